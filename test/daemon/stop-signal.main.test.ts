// Mirrors daemon/cli.ts
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { plimsollHere } from '../support/program.ts'
import { head, RawClient } from '../support/raw-client.ts'
import { publishRequest } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { SERVE, serveBy } from '../support/serving-program.ts'
import { until } from '../support/until.ts'

/** Starts a daemon by a command, in a process group of its own, and a publish that is half sent. */
async function publishing(t: TestContext, command: readonly string[]) {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  assert.equal((await plimsollHere(['init', '--dir', dir])).code, 0)
  const daemon = await serveBy(cleanup, command, dir)
  const client = await RawClient.open(daemon.url)
  const authorization = daemon.token
  const body = publishRequest({ name: 'demo', version: '1.0.0' })
  const length = { 'content-length': body.length }
  const expect = '100-continue'
  await client.send(head('PUT', '/api/v1/crates/new', { authorization, expect, ...length }))
  // A daemon that stops before it has read the head closes the connection as an idle one.
  await client.until(received => received.startsWith('HTTP/1.1 100'))
  await client.send(body.subarray(0, 200))
  const isStopping = () =>
    fetch(`${daemon.url}/healthz`).then(
      ({ ok }) => !ok,
      () => true,
    )
  const said = () => daemon.said.out + daemon.said.err
  return { ...daemon, client, isStopping, rest: body.subarray(200), said }
}

const CASES = [
  ['SIGTERM to the daemon', SERVE, 'SIGTERM', 'alone'],
  ['SIGTERM to the group of npm', ['npm', 'start'], 'SIGTERM', 'group'],
  ['Ctrl-C in the terminal of npm', ['npm', 'start'], 'SIGINT', 'group'],
  ['the end of the terminal of npm', ['npm', 'start'], 'SIGHUP', 'group'],
  ['SIGTERM to npm alone', ['npm', 'start'], 'SIGTERM', 'alone'],
  ['the death of npm', ['npm', 'start'], 'SIGKILL', 'alone'],
  ['the death of the starter', [process.execPath, 'scripts/start.mjs'], 'SIGKILL', 'alone'],
] as const

for (const [what, command, signal, whom] of CASES) {
  test(`${what} lets a publish finish, and no process stays`, async t => {
    const { kill, client, ended, isStopping, rest, said } = await publishing(t, command)
    kill(signal, whom)
    await until(isStopping, () => `it goes on\n${said()}`)
    await client.send(rest)
    assert.equal((await client.answer()).status, 200, said())
    const code = await ended
    if (command === SERVE) assert.equal(code, 0)
  })
}

test('one Ctrl-C that arrives twice is one; the next one ends the daemon at once', async t => {
  const { child, kill, client, ended, isStopping, said } = await publishing(t, SERVE)
  kill('SIGINT')
  kill('SIGINT')
  await until(isStopping, () => `it goes on\n${said()}`)
  assert.deepEqual([child.exitCode, client.isClosed], [null, false])
  const again = setInterval(() => kill('SIGINT'), 50)
  t.after(() => clearInterval(again))
  assert.equal(await ended, 130)
})
