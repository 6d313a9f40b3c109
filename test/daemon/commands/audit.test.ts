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
  assert.equal(
    (await run(['user', 'add', 'Alice', '--password-stdin'], 'correct horse battery')).code,
    0,
  )
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
  const all = [
    ...start,
    'user-add',
    'password-change',
    'token-create',
    'publish',
    'yank',
    'login-failed',
    'login',
  ]
  assert.deepEqual(await actions(), all)
  assert.deepEqual(await actions('--limit', '2'), ['login-failed', 'login'])
  assert.deepEqual(await actions('--actor', 'ALICE'), ['publish', 'yank', 'login'])
  assert.deepEqual(
    await actions('--actor', 'command line', '--action', 'token-create', '--limit', '1'),
    ['token-create'],
  )
  assert.deepEqual(await actions('--crate', 'demo-crate'), ['publish', 'yank'])
  assert.deepEqual(
    await actions('--crate', 'demo-crate', '--action', 'yank', '--actor', 'alice', '--since', '1h'),
    ['yank'],
  )
  assert.deepEqual(await actions('--crate', 'none'), [])
  assert.deepEqual(await actions('--since', '1h'), all)
  const [event] = JSON.parse(await folder.ok('audit', '--json', '--action', 'publish')) as Record<
    string,
    unknown
  >[]
  const { id, at, detail, ...rest } = event ?? {}
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
    [
      ['audit', '--limit', 'many'],
      2,
      '`many` is not a limit; write a whole number from 1 to 999999',
    ],
    [
      ['audit', '--since', 'yesterday'],
      2,
      '`yesterday` is not a duration; write for example 90d, 12h, 30m or 10s',
    ],
    [['audit', 'surplus'], 2, /^error: too many arguments/],
  ])
})

test('audit names the actions there are when no event has the one asked for', async t => {
  const folder = await servedFolder(t)
  const { code, stdout, stderr } = await folder.run(['audit', '--action', 'yanc', '--json'])
  assert.deepEqual(
    [code, stdout, stderr],
    [
      0,
      '[]\n',
      'no event has the action yanc; the log has: password-link, token-create, user-add\n',
    ],
  )
  await folder.ok('user', 'add', 'alice')
  for (const [words, stderr] of [
    [['--actor', 'alice'], ''],
    [['--actor', 'unknown'], ''],
    [
      ['--actor', 'nobody'],
      'there is no actor nobody; actors are users, command line and unknown\n',
    ],
    [['--action', 'user-add', '--crate', 'demo'], 'no event is about demo\n'],
  ] as const) {
    const quiet = await folder.run(['audit', ...words])
    assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [0, '', stderr])
  }
})

test('audit --follow ends when nobody reads it any more', async t => {
  const folder = await servedFolder(t)
  const cli = join(root, 'dist', 'daemon', 'cli.js')
  const script = '{ "$0" "$1" audit --follow --dir "$2"; echo "ended with $?" >&2; } | head -2'
  const child = spawn('sh', ['-c', script, process.execPath, cli, folder.dir], { detached: true })
  const said = { stdout: '', stderr: '' }
  let isOver = false
  child.on('close', () => {
    isOver = true
  })
  new Cleanup(t).add(() => {
    if (!isOver && child.pid) process.kill(-child.pid, 'SIGKILL')
  })
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString()
    })
  await until(
    () => said.stdout !== '',
    () => `nothing was printed: ${said.stderr}`,
  )
  // What `head` does not take may still fit into the pipe.
  for (let at = 0; !isOver && at < 20; at++) await folder.ok('user', 'add', `user-${at}`)
  await until(
    () => isOver,
    () => `still running: ${said.stderr}`,
  )
  assert.match(said.stdout, /^time +actor .*\n\S+Z {2}command line {2}user-add {2}[^\n]*\n$/)
  assert.equal(said.stderr, 'ended with 0\n')
})

test('audit --follow goes on telling what happens, one event a line', async t => {
  const folder = await servedFolder(t)
  const args = ['audit', '--follow', '--json', '--action', 'user-add', '--dir', folder.dir]
  const child = spawn(process.execPath, [join(root, 'dist', 'daemon', 'cli.js'), ...args])
  new Cleanup(t).add(() => void child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
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
})
