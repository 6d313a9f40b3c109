// Mirrors daemon/commands/serve.ts
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../generator/database/database.ts'
import { run } from '../../generator/database/statement.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { Cleanup } from '../support/cleanup.ts'
import { closeServer, listen } from '../support/loopback.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { plimsollHere } from '../support/program.ts'
import { head, RawClient } from '../support/raw-client.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { largePublish, receiving } from '../support/served-folder.ts'
import { SERVE, serveBy } from '../support/serving-program.ts'
import { until } from '../support/until.ts'

/** A registry folder, and how to serve it in a process of its own. */
async function folder(cleanup: Cleanup): Promise<string> {
  const dir = join(scratch(cleanup), 'registry')
  assert.equal((await plimsollHere(['init', '--dir', dir])).code, 0)
  return dir
}

/** A daemon process; a test that leaves it running has it killed. */
function start(cleanup: Cleanup, dir: string, env: NodeJS.ProcessEnv = {}, ...flags: string[]) {
  return serveBy(cleanup, [...SERVE, ...flags], dir, env)
}

test('a start says that there is no administrator, and which command makes one', async t => {
  const cleanup = new Cleanup(t)
  const dir = await folder(cleanup)
  assert.equal((await plimsollHere(['user', 'add', 'ann', '--dir', dir])).code, 0)
  const database = await openDatabase(join(dir, DATABASE_FILE))
  await run(database, 'UPDATE users SET admin = 0')
  await database.close()
  const { said } = await start(cleanup, dir)
  await until(
    () => /no administrator.*`plimsoll user promote NAME`/.test(said.err),
    () => said.err,
  )
})

test('the first start prints what to paste and a token, once; later ones print no token', async t => {
  const cleanup = new Cleanup(t)
  const dir = await folder(cleanup)
  const first = await start(cleanup, dir)
  assert.match(
    first.said.out,
    /^Paste this into \.cargo\/config\.toml:\n\n(?:# .*\n)+\[registries\.plimsoll\]\n/,
  )
  assert.ok(first.said.out.includes(`index = "sparse+${first.url}/index/"`))
  const config = await (await fetch(`${first.url}/index/config.json`)).json()
  const dl = `${first.url}/crates/{crate}/{crate}-{version}.crate`
  assert.deepEqual(config, { dl, api: first.url })
  const put = await publishTo(first.url, first.token, { name: 'demo', version: '1.0.0' })
  assert.equal(put.status, 200)
  first.kill('SIGTERM')
  assert.equal(await first.ended, 0)
  const second = await start(cleanup, dir)
  assert.equal(/plim_/.test(second.said.out), false)
  assert.equal(/plim_/.test(first.said.err), false, 'the log has no token')
  second.kill('SIGINT')
  assert.equal(await second.ended, 0)
})

test('a start at another address without base_url says what had the one before', async t => {
  const cleanup = new Cleanup(t)
  const dir = await folder(cleanup)
  const base = 'https://crates.example'
  const before: (string | null)[] = []
  const run = async (env: Readonly<Record<string, string>>, listen: string) => {
    const { kill, said, url, ended } = await start(cleanup, dir, env, '--listen', listen)
    kill('SIGTERM')
    assert.equal(await ended, 0)
    const [, was = null, now] =
      /until now .* had the address (\S+); .* have (\S+), /.exec(said.err) ?? []
    if (was !== null) assert.equal(now, url)
    before.push(was)
    return url
  }
  const first = await run({}, '127.0.0.1:0')
  await run({}, new URL(first).host)
  await run({}, '127.0.0.1:0')
  await run({ PLIMSOLL_REGISTRY_BASE_URL: base }, '127.0.0.1:0')
  await run({}, '127.0.0.1:0')
  assert.deepEqual(before, [null, null, first, null, base])
})

test('serve --init creates a missing registry, and serves one that exists as it is', async t => {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  const wrong = await plimsoll('.', ['serve', '--init', '--dir', dir, '--listen', 'nowhere'])
  assert.equal(wrong.code, 2)
  assert.equal(existsSync(dir), false)
  const first = await start(cleanup, dir, {}, '--init')
  assert.ok(first.said.err.startsWith(`created a registry in ${dir}\n`), first.said.err)
  assert.equal((await fetch(`${first.url}/index/config.json`)).status, 200)
  first.kill('SIGTERM')
  assert.equal(await first.ended, 0)
  writeFileSync(join(dir, 'plimsoll.toml'), '[registry]\ntitle = "Kept"\n')
  const second = await start(cleanup, dir, {}, '--init')
  assert.equal(second.said.err.includes('created'), false)
  // The pages follow soon after the start.
  await until(
    async () => (await (await fetch(`${second.url}/`)).text()).includes('<title>Kept'),
    'the settings of the registry are not used',
  )
})

/** A daemon to which a publish was sent but for its last bytes. */
async function publishing(cleanup: Cleanup, shutdownSeconds: number) {
  const dir = await folder(cleanup)
  const env = { PLIMSOLL_SERVER_SHUTDOWN_SECONDS: String(shutdownSeconds) }
  const daemon = await start(cleanup, dir, env)
  const body = largePublish()
  const client = await RawClient.open(daemon.url)
  const headers = { authorization: daemon.token, 'content-length': body.length }
  await client.send(head('PUT', '/api/v1/crates/new', headers))
  await client.send(body.subarray(0, -50))
  await receiving(dir)
  return { dir, daemon, client, rest: body.subarray(-50) }
}

test('SIGTERM lets a slow publish finish, index file and all, then exits 0', async t => {
  // A silent connection would keep it for an hour.
  const { dir, daemon, client, rest } = await publishing(new Cleanup(t), 3600)
  const silent = await RawClient.open(daemon.url)
  const probe = await RawClient.open(daemon.url)
  await probe.send(head('GET', '/readyz', {}))
  await probe.until(received => received.endsWith('ready\n'))
  daemon.kill('SIGTERM')
  const refuses = () =>
    fetch(daemon.url).then(
      () => false,
      () => true,
    )
  await until(refuses, 'it takes new connections')
  // Nobody finds it ready any more, not even on a connection that was kept.
  const probed = await probe.until((_, isClosed) => isClosed)
  assert.equal(probed.match(/HTTP\/1\.1 200/g)?.length, 1)
  assert.equal(daemon.child.exitCode, null, 'it waits')
  await client.send(rest)
  const answer = await client.answer()
  assert.equal(answer.status, 200)
  assert.equal(await daemon.ended, 0)
  assert.equal(await silent.until((_, isClosed) => isClosed), '')
  const line = readFileSync(join(dir, 'public/index/de/mo/demo'), 'utf8')
  assert.match(line, /^\{"name":"demo","vers":"1\.0\.0",/)
})

test('SIGTERM does not wait longer than server.shutdown_seconds', async t => {
  const { daemon, client } = await publishing(new Cleanup(t), 1)
  daemon.kill('SIGTERM')
  assert.equal(await daemon.ended, 0)
  assert.equal(await client.until((_, isClosed) => isClosed), '')
})

test('what keeps a daemon from starting is one sentence, and code 1 where trying again may help', async t => {
  const cleanup = new Cleanup(t)
  const dir = await folder(cleanup)
  const other = createServer()
  const taken = new URL(await listen(other)).host
  cleanup.add(() => closeServer(other))
  const running = await start(cleanup, dir)
  // What may pass by itself is 1: systemd then tries again, but not after 2.
  const served =
    /^error: \S+ is already being served by process \d+ at http:\S+, version \S+; stop it/
  const none = /^error: \S+ is not a registry; create one with `plimsoll init --dir \S+`/
  const nonsense = /^error: --\S+: `server\.listen` cannot be "nonsense"; accepted: /
  const rows: [code: number, said: RegExp, args: string[]][] = [
    [2, none, ['--dir', `${dir}-none`]],
    [1, served, ['--dir', dir]],
    [2, nonsense, ['--dir', dir, '--listen', 'nonsense']],
  ]
  for (const [expected, said, args] of rows) {
    const { code, stdout, stderr } = await plimsoll('.', ['serve', ...args])
    assert.match(stderr, said)
    assert.deepEqual([code, stdout, stderr.trim().split('\n').length], [expected, '', 1], stderr)
  }
  running.kill('SIGTERM')
  assert.equal(await running.ended, 0)
  const { code, stderr } = await plimsoll('.', ['serve', '--dir', dir, '--listen', taken])
  assert.equal(code, 1)
  assert.ok(stderr.startsWith(`error: cannot listen on ${taken}: address already in use;`), stderr)
})

test('the log of a whole life for people: started, a refused publish, stopping, stopped', async t => {
  const cleanup = new Cleanup(t)
  const dir = await folder(cleanup)
  const daemon = await start(cleanup, dir, { PLIMSOLL_LOG_FORMAT: 'text' })
  const headers = { authorization: 'plim_unknown', 'user-agent': 'cargo/1.95.0 (a b)' }
  await fetch(`${daemon.url}/api/v1/crates/new`, { method: 'PUT', headers, body: 'x' })
  daemon.kill('SIGTERM')
  assert.equal(await daemon.ended, 0)
  const lines = daemon.said.err.trimEnd().split('\n')
  // On Node 20 it begins with the warning about that.
  const life = lines.filter(line => !line.includes('install Node 24'))
  assert.deepEqual(
    life.map(line =>
      line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /, '').replace(/[\d.]+ ms/, 'MS'),
    ),
    [
      `started in ${dir}, url=${daemon.url}, crates=0, releases=0`,
      `PUT /api/v1/crates/new 403 MS cargo/1.95.0 (a b), from 127.0.0.1, refused: this token is not valid: it is unknown or revoked; ${daemon.url}/me says how to get a new one`,
      'stopping: finishing work, at most 30 s, signal=SIGTERM',
      'stopped',
    ],
  )
})
