// Mirrors daemon/workers/webhook-worker.ts
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { all } from '../../generator/database/statement.ts'
import { openRegistry } from '../../generator/open.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { plimsollHere } from '../support/program.ts'
import { SERVE, serveBy } from '../support/serving-program.ts'
import { until } from '../support/until.ts'
import { serveWeb } from '../support/web-server.ts'
import { folderOf } from '../support/workplace.ts'
import { writeCrate } from '../support/write-crate.ts'

/** Each of them takes about a second; PLIMSOLL_TEST_KILLS=3 is enough to look. */
const LIVES = Number(process.env.PLIMSOLL_TEST_KILLS ?? 50)
const EVENTS = 20

test('20 events a life arrive through 50 kills at a receiver that refuses every other attempt', async t => {
  const dir = join(folderOf(t), 'registry')
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const secrets = join(folderOf(t), 'secret')
  writeFileSync(secrets, secret)
  const arrived = new Map<number, string>()
  // A receiver that counts all attempts together could refuse one event ten times in a row.
  const attempts = new Map<unknown, number>()
  const url = await serveWeb(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    new Webhook(secret).verify(body, request.headers as Record<string, string>)
    const id = request.headers['webhook-id']
    const before = attempts.get(id) ?? 0
    attempts.set(id, before + 1)
    const isRefused = before % 2 === 0
    const { type, data } = JSON.parse(body)
    if (!isRefused) arrived.set(data.generation, `${type} ${data.crate} ${data.version}`)
    response.writeHead(isRefused ? 500 : 204).end()
  })
  const env = {
    PLIMSOLL_TEST_WEBHOOK_SPEED: '1000',
    PLIMSOLL_WEBHOOK_HOOK_URL: url,
    PLIMSOLL_WEBHOOK_HOOK_SECRET_FILE: secrets,
    PLIMSOLL_WEBHOOK_HOOK_PRIVATE: 'true',
    PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '0',
    PLIMSOLL_GIT_INDEX: 'off',
  }
  const plimsoll = async (...args: string[]) => {
    const result = await plimsollHere([...args, '--dir', dir], env)
    expectCode(args.join(' '), result, 0)
    return result.stdout.trim()
  }
  await plimsoll('init')
  // Nobody serves it yet: the event waits for the first start.
  await plimsoll(
    'add',
    writeCrate(join(folderOf(t), 'demo-1.0.0.crate'), { name: 'demo', version: '1.0.0' }),
  )
  await plimsoll('user', 'add', 'root', '--admin')
  const token = await plimsoll('token', 'create', '--user', 'root')
  const cleanup = new Cleanup(t)
  for (let life = 0; life < LIVES; life++) {
    const daemon = await serveBy(cleanup, SERVE, dir, env)
    for (let event = 0; event < EVENTS; event++) {
      const [method, what] = event % 2 === 0 ? ['DELETE', 'yank'] : ['PUT', 'unyank']
      const path = `${daemon.url}/api/v1/crates/demo/1.0.0/${what}`
      const { status } = await fetch(path, {
        method: method ?? '',
        headers: { authorization: token },
      })
      assert.equal(status, 200)
    }
    daemon.kill('SIGKILL', 'group')
    await daemon.ended
  }
  await serveBy(cleanup, SERVE, dir, env)
  const registry = await openRegistry(dir, { env, reads: true })
  cleanup.add(() => registry.close())
  const made = await all<{ id: number; action: string }>(
    registry.database,
    "SELECT id, action FROM audit WHERE action IN ('publish', 'yank', 'unyank') ORDER BY id",
  )
  assert.equal(made.length, 1 + LIVES * EVENTS)
  await until(
    () => made.every(({ id }) => arrived.has(id)),
    () => `${arrived.size} of ${made.length} events arrived`,
    300_000,
  )
  const types: Readonly<Record<string, string>> = {
    publish: 'published',
    yank: 'yanked',
    unyank: 'unyanked',
  }
  const told = made.map(({ id, action }) => [id, `release.${types[action]} demo 1.0.0`] as const)
  assert.deepEqual(
    [...arrived].sort(([a], [b]) => a - b),
    told,
  )
})
