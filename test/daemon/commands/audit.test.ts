import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { root } from '../../support/plimsoll.ts'
import { publishTo } from '../../support/release.ts'
import { RemoteBrowser } from '../../support/remote-browser.ts'
import { refuses, type ServedFolder, servedFolder } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'

/** Publishes `Demo_Crate` as `Alice`, lets her in once and somebody else not. */
async function eventful({ run, ok, url }: ServedFolder): Promise<void> {
  const added = await run(['user', 'add', 'Alice', '--password-stdin'], 'correct horse battery')
  assert.equal(added.code, 0)
  const token = await ok('token', 'create', '--user', 'alice')
  const headers = { authorization: token }
  const demo = { name: 'Demo_Crate', version: '1.0.0' }
  assert.equal((await publishTo(url, token, demo)).status, 200)
  const yank = `${url}/api/v1/crates/Demo_Crate/1.0.0/yank`
  assert.equal((await fetch(yank, { method: 'DELETE', headers })).status, 200)
  await new RemoteBrowser(url).logIn('alice', 'not the right one')
  await new RemoteBrowser(url).logIn('alice', 'correct horse battery')
}

test('audit tells what was done, when, by whom and from where, and narrows it down', async t => {
  const folder = await servedFolder(t)
  await eventful(folder)
  const actions = async (...args: string[]) => {
    const events = JSON.parse(await folder.ok('audit', '--json', ...args)) as { action: string }[]
    return events.map(event => event.action)
  }
  const start = ['user-add', 'token-create', 'password-link']
  const later = 'user-add password-change token-create publish yank login-failed login'
  const all = [...start, ...later.split(' ')]
  assert.deepEqual(await actions(), all)
  assert.deepEqual(await actions('--limit', '2'), ['login-failed', 'login'])
  assert.deepEqual(await actions('--actor', 'ALICE'), ['publish', 'yank', 'login'])
  assert.deepEqual(await actions('--actor', 'command line', '--limit', '1'), ['token-create'])
  const demo = ['--crate', 'demo-crate']
  assert.deepEqual(await actions(...demo), ['publish', 'yank'])
  const yanks = await actions(...demo, '--action', 'yank', '--actor', 'alice', '--since', '1h')
  assert.deepEqual(yanks, ['yank'])
  assert.deepEqual(await actions('--crate', 'none'), [])
  assert.deepEqual(await actions('--since', '1h'), all)
  const [event] = JSON.parse(await folder.ok('audit', '--json', '--action', 'publish'))
  const { id, at, detail, ...rest } = event
  assert.match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual(rest, {
    action: 'publish',
    actor: 'Alice',
    token: 2,
    token_name: 'command line',
    address: '127.0.0.1',
    crate: 'Demo_Crate',
    version: '1.0.0',
  })
  assert.match(
    await folder.ok('audit', '--action', 'yank'),
    /^time +actor {2}action {2}crate {7}version {2}token {2}address {4}detail\n\S+Z {2}Alice {2}yank {4}Demo_Crate {2}1\.0\.0 {4}2 {6}127\.0\.0\.1$/,
  )
  assert.match(
    await folder.ok('audit', '--action', 'login-failed'),
    /^time .*\n\S+Z {2}unknown {2}login-failed +127\.0\.0\.1 {2}login Alice$/,
  )
  assert.doesNotMatch(await folder.ok('audit'), /horse|right one|plim_/)
})

test('audit: what is refused, and how', async t => {
  const folder = await servedFolder(t)
  await refuses(folder, [
    [['audit', '--limit', '0'], 2, '`0` is not a limit; write a whole number from 1 to 999999'],
    [['audit', '--since', 'yesterday'], 2, /^error: `yesterday` is not a duration; write for exam/],
    [['audit', 'surplus'], 2, /^error: too many arguments/],
  ])
})

test('audit names the actions there are when no event has the one asked for', async t => {
  const folder = await servedFolder(t)
  const { code, stdout, stderr } = await folder.run(['audit', '--action', 'yanc', '--json'])
  const said = 'no event has the action yanc; the log has: password-link, token-create, user-add\n'
  assert.deepEqual([code, stdout, stderr], [0, '[]\n', said])
  await folder.ok('user', 'add', 'alice')
  for (const [words, stderr] of [
    [['--actor', 'nobody'], 'no event is by nobody\n'],
    [['--action', 'user-add', '--crate', 'demo'], 'no event is about demo\n'],
  ] as const) {
    const quiet = await folder.run(['audit', ...words])
    assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [0, '', stderr])
  }
})

test('audit --follow goes on telling what happens, one event a line, as long as somebody reads it', async t => {
  const folder = await servedFolder(t)
  const cli = join(root, 'dist', 'daemon', 'cli.js')
  const command = '"$0" "$1" audit --follow --json --action user-add --dir "$2"'
  const script = `{ ${command}; echo "ended with $?" >&2; } | sed -u 3q`
  const child = spawn('sh', ['-c', script, process.execPath, cli, folder.dir], { detached: true })
  let [said, complaints] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString()
  })
  new Cleanup(t).add(() => {
    if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGKILL')
  })
  const lines = async (count: number) => {
    const whole = () => said.split('\n').slice(0, -1)
    await until(
      () => whole().length >= count,
      () => `${count} events, but ${said}`,
    )
    return whole().map(line => (JSON.parse(line) as { detail: { login: string } }).detail.login)
  }
  assert.deepEqual(await lines(1), ['admin'])
  await folder.ok('user', 'add', 'alice')
  await folder.ok('user', 'lock', 'alice')
  await folder.ok('user', 'add', 'bob')
  assert.deepEqual(await lines(3), ['admin', 'alice', 'bob'])
  // What `sed` does not take may still fit into the pipe.
  for (let at = 0; complaints === '' && at < 20; at++) await folder.ok('user', 'add', `user-${at}`)
  await until(
    () => child.exitCode !== null,
    () => `still running: ${complaints}`,
  )
  assert.deepEqual([(await lines(3)).length, complaints], [3, 'ended with 0\n'])
})
