import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { plimsollHere } from '../../support/program.ts'
import { serveWeb } from '../../support/web-server.ts'
import { folderOf } from '../../support/workplace.ts'

test('webhook test shows the bytes that it sends; list and resend know what waits', async t => {
  const folder = folderOf(t)
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  writeFileSync(join(folder, 'secret'), `${secret}\n`)
  let status = 200
  const bodies: string[] = []
  const url = await serveWeb(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    bodies.push(body)
    response.writeHead(status).end('not for anybody')
  })
  const env = {
    PLIMSOLL_WEBHOOK_HOOK_URL: url,
    PLIMSOLL_WEBHOOK_HOOK_SECRET_FILE: join(folder, 'secret'),
    PLIMSOLL_WEBHOOK_HOOK_PRIVATE: 'true',
  }
  const said = async (code: number, ...args: readonly string[]) => {
    const ended = await plimsollHere([...args, '--dir', join(folder, 'registry')], env)
    assert.equal(ended.code, code, `${args.join(' ')}\n${ended.stderr}`)
    return ended
  }
  await said(0, 'init', '--base-url', 'http://crates.test')
  const sent = JSON.parse((await said(0, 'webhook', 'test', 'hook', '--json')).stdout)
  assert.deepEqual([sent.body, sent.status, sent.problem], [bodies[0], 200, null])
  new Webhook(secret).verify(sent.body, sent.headers)
  status = 500
  const refused = await said(1, 'webhook', 'test', 'hook')
  assert.ok(refused.stdout.includes(bodies[1] ?? ''), refused.stdout)
  assert.doesNotMatch(refused.stdout + refused.stderr, /not for anybody/)
  const { webhooks, deliveries } = JSON.parse((await said(0, 'webhook', 'list', '--json')).stdout)
  assert.deepEqual([webhooks, deliveries], [[{ name: 'hook', ended_at: null, waiting: 0 }], []])
  assert.equal(
    (await said(0, 'webhook', 'resend', 'hook')).stdout,
    'the daemon sends 0 events again\n',
  )
  const unknown = await said(2, 'webhook', 'test', 'other')
  assert.match(unknown.stderr, /^error: there is no webhook `other`/)
})
