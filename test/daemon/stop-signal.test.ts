// Mirrors daemon/cli.ts
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { root } from '../support/plimsoll.ts'
import { plimsollHere } from '../support/program.ts'
import { head, RawClient } from '../support/raw-client.ts'
import { publishRequest } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const SERVE = [process.execPath, join(root, 'dist', 'daemon', 'cli.js'), 'serve']

/** Starts a daemon by a command, in a process group of its own, and a publish that is half sent. */
async function publishing(t: TestContext, command: readonly string[]) {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  assert.equal((await plimsollHere(['init', '--dir', dir])).code, 0)
  const [program = '', ...args] = command
  const env = { ...process.env, PLIMSOLL_DIR: dir, PLIMSOLL_LISTEN: '127.0.0.1:0' }
  const child = spawn(program, args, { cwd: root, env, detached: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
  // The end of every process that writes to the pipes, not of the first one alone.
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  cleanup.add(async () => {
    kill(child, 'SIGKILL', 'group')
    await ended
  })
  const url = () => /^listening on (http:\S+)$/m.exec(said)?.[1]
  await until(
    () => url() !== undefined || child.exitCode !== null,
    () => `it does not listen\n${said}`,
  )
  const client = await RawClient.open(url() ?? '')
  const [authorization = ''] = /plim_[0-9A-Za-z]{38}/.exec(said) ?? []
  const body = publishRequest({ name: 'demo', version: '1.0.0' })
  const length = { 'content-length': body.length }
  const expect = '100-continue'
  await client.send(head('PUT', '/api/v1/crates/new', { authorization, expect, ...length }))
  // A daemon that stops before it has read the head closes the connection as an idle one.
  await client.until(received => received.startsWith('HTTP/1.1 100'))
  await client.send(body.subarray(0, 200))
  const isStopping = () =>
    fetch(`${url()}/healthz`).then(
      ({ ok }) => !ok,
      () => true,
    )
  return { child, client, ended, isStopping, rest: body.subarray(200), said: () => said }
}

function kill(child: ChildProcess, signal: NodeJS.Signals, whom: 'alone' | 'group'): void {
  const { pid = 0 } = child
  try {
    process.kill(whom === 'group' ? -pid : pid, signal)
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH')
  }
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
    const { child, client, ended, isStopping, rest, said } = await publishing(t, command)
    kill(child, signal, whom)
    await until(isStopping, () => `it goes on\n${said()}`)
    await client.send(rest)
    assert.equal((await client.answer()).status, 200, said())
    const code = await ended
    if (command === SERVE) assert.equal(code, 0)
  })
}

test('one Ctrl-C that arrives twice is one; the next one ends the daemon at once', async t => {
  const { child, client, ended, isStopping, said } = await publishing(t, SERVE)
  kill(child, 'SIGINT', 'alone')
  kill(child, 'SIGINT', 'alone')
  await until(isStopping, () => `it goes on\n${said()}`)
  assert.deepEqual([child.exitCode, client.isClosed], [null, false])
  const again = setInterval(() => kill(child, 'SIGINT', 'alone'), 50)
  t.after(() => clearInterval(again))
  assert.equal(await ended, 130)
})
