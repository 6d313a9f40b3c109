// Mirrors examples/follow-publishes.mjs
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, watch } from '../support/command.ts'
import { closeServer, freePort, listen } from '../support/loopback.ts'
import { root, serve } from '../support/plimsoll.ts'
import { plimsollHere } from '../support/program.ts'
import { publishTo } from '../support/release.ts'
import { until } from '../support/until.ts'
import { folderOf } from '../support/workplace.ts'
import { writeCrate } from '../support/write-crate.ts'

test('a follower writes every version once, although it is killed and the registry is away', async t => {
  const place = await newPlace(t)
  const { folder, dir, file } = place
  const early = await startFollower(t, place)
  await until(() => early.said().includes('trying again'), early.said)
  const daemon = await serve(new Cleanup(t), dir, {}, undefined, `127.0.0.1:${place.port}`)
  const put = async (name: string, version: string) =>
    assert.equal((await publishTo(daemon.url, place.token, { name, version })).status, 200)
  const expected = new Set<string>()
  const publish = async (name: string, version: string) => {
    expected.add(`${name} ${version}`)
    await put(name, version)
  }
  const arrived = () =>
    until(
      () => linesOf(file).length >= expected.size,
      () => `${linesOf(file).length} of ${expected.size} versions`,
    )

  await publish('a', '1.0.0')
  await publish('Ab', '1.0.0')
  await publish('abc', '1.0.0')
  await arrived()
  early.kill()
  // More than a page of the API has; the file ends in a line that was cut off.
  for (let at = 0; at < 105; at++) {
    writeCrate(join(folder, 'crates', `${at}.crate`), { name: `many-${at}`, version: '1.0.0' })
    expected.add(`many-${at} 1.0.0`)
  }
  expectCode('add', await plimsollHere(['add', join(folder, 'crates'), '--dir', dir]), 0)
  await publish('abc', '1.1.0')
  appendFileSync(file, '{"at":"2026-11-2')

  for (let round = 2; round < 6; round++) {
    const follower = await startFollower(t, place)
    await until(() => follower.said() !== '', follower.said)
    await publish('abc', `1.${round}.0`)
    await publish(`round-${round}`, '1.0.0')
    follower.kill()
    await follower.ended
  }
  const late = await startFollower(t, place)
  await arrived()
  await daemon.stop()
  await until(() => late.said().includes('trying again'), late.said)
  const names = linesOf(file).map(line => {
    const { name, vers } = JSON.parse(line) as { name: string; vers: string }
    return `${name} ${vers}`
  })
  assert.deepEqual(names.toSorted(), [...expected].sort())
})

test('a follower of a private registry shows its token', async t => {
  const place = await newPlace(t, 'auth.required=true')
  const url = `127.0.0.1:${place.port}`
  const daemon = await serve(new Cleanup(t), place.dir, {}, undefined, url)
  const stranger = await startFollower(t, { ...place, token: '' })
  await until(() => stranger.said().includes('401'), stranger.said)
  await startFollower(t, place)
  const put = await publishTo(daemon.url, place.token, { name: 'demo', version: '1.0.0' })
  assert.equal(put.status, 200)
  await until(() => linesOf(place.file).length === 1, 'no event')
})

test('a follower waits when it is asked to, and asks for the feed alone while nothing is new', async t => {
  const crates = [{ name: 'demo', updated_at: '2026-11-20T12:00:00Z' }]
  const bodies: Readonly<Record<string, string>> = {
    '/feeds/updates.xml': '<feed/>',
    '/api/v1/crates': JSON.stringify({ crates, meta: { next_page: null } }),
    '/index/de/mo/demo': '{"name":"demo","vers":"1.0.0","cksum":"00"}\n',
  }
  const seen: string[] = []
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname
    const isBusy = !seen.includes(`${path} 429`)
    const isSame = request.headers['if-none-match'] === '"1"'
    const status = isBusy ? 429 : isSame ? 304 : 200
    seen.push(`${path} ${status}`)
    response.writeHead(status, isBusy ? { 'retry-after': '0' } : { etag: '"1"' })
    response.end(status === 200 ? bodies[path] : '')
  })
  const port = Number(new URL(await listen(server)).port)
  new Cleanup(t).add(() => closeServer(server))
  const file = join(folderOf(t), 'events.jsonl')
  const { said } = await startFollower(t, { file, port, token: '' })
  await until(() => seen.filter(line => line.endsWith(' 304')).length >= 3, said)
  const paths = Object.keys(bodies).flatMap(path => [`${path} 429`, `${path} 200`])
  assert.deepEqual(seen.slice(0, 7), [...paths, '/feeds/updates.xml 304'])
  assert.deepEqual(new Set(seen.slice(7)), new Set(['/feeds/updates.xml 304']))
  const event = { at: '2026-11-20T12:00:00Z', name: 'demo', vers: '1.0.0', cksum: '00' }
  assert.deepEqual(linesOf(file), [JSON.stringify(event)])
})

interface Place {
  readonly folder: string
  readonly dir: string
  readonly file: string
  readonly port: number
  readonly token: string
}

/** A registry that nobody serves yet, and the port at which it will be. */
async function newPlace(t: TestContext, ...settings: string[]): Promise<Place> {
  const folder = folderOf(t)
  const dir = join(folder, 'registry')
  const port = await freePort()
  const ok = async (...args: string[]) =>
    expectCode(args.join(' '), await plimsollHere([...args, '--dir', dir]), 0).stdout.trim()
  const more = [...settings, 'git.index=off'].flatMap(setting => ['--set', setting])
  await ok('init', '--base-url', `http://127.0.0.1:${port}`, ...more)
  await ok('user', 'add', 'alice')
  const scopes = ['read', 'publish-new', 'publish-update'].flatMap(scope => ['--scope', scope])
  const token = await ok('token', 'create', '--user', 'alice', ...scopes)
  return { folder, dir, file: join(folder, 'events.jsonl'), port, token }
}

async function startFollower(
  t: TestContext,
  { file, port, token }: Pick<Place, 'file' | 'port' | 'token'>,
) {
  const program = join(root, 'examples', 'follow-publishes.mjs')
  const env = { ...process.env, INTERVAL: '0.05', TOKEN: token }
  const child = spawn(process.execPath, [program, `http://127.0.0.1:${port}`, file], { env })
  const { said, ended } = watch(child)
  const kill = () => child.kill('SIGKILL')
  new Cleanup(t).add(async () => {
    kill()
    await ended
  })
  return { said, ended, kill }
}

/** The complete lines of the file. */
function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}
