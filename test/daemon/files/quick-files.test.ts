import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { writeDurably } from '../../../generator/places/disk/durable.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { settle } from '../../support/event-loop.ts'
import { parseExposition } from '../../support/exposition.ts'
import { openServer } from '../../support/open-server.ts'
import { RawClient } from '../../support/raw-client.ts'
import { send } from '../../support/raw-publish.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

type Asked = readonly [path: string, headers?: Record<string, string>, method?: string]

const LINES = '{"name":"demo"}\n'.repeat(200)
const BIG = Buffer.alloc(3_000_000, '0123456789')
const FILES: Readonly<Record<string, string | Buffer>> = {
  'index/de/mo/demo': LINES,
  'crates/demo/demo-1.0.0+b.crate': 'bytes of a crate',
  'crates/demo/demo-2.0.0.crate': BIG,
  'crates/demo/index.html': '<!doctype html><title>demo</title>',
}

/** A registry with files that have rested, so that they are kept in memory. */
async function withFiles(t: TestContext, env: Record<string, string> = {}, logLevel = 'info') {
  const registry = await TestRegistry.open(t, { env, logLevel })
  const { tree } = registry.registry
  for (const [path, content] of Object.entries(FILES))
    await writeDurably(tree.path(path), Buffer.from(content))
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  return registry
}

/** Two servers of a registry: by the app alone, and with quick answers; `left` counts the rest. */
async function serve(t: TestContext, { app, dir }: TestRegistry, tls = false) {
  const pair = tls ? makeCertificate(dir, 'tls') : null
  const [slow, quick] = [await openServer(t, { tls: pair }), await openServer(t, { tls: pair })]
  const counts = { left: 0 }
  slow.answer(app.fetch)
  quick.answer(app.fetch, (exchange, leave) => {
    const counted = () => {
      counts.left++
      leave()
    }
    if (app.quick) app.quick(exchange, counted)
    else counted()
  })
  return { slow: slow.url, quick: quick.url, counts }
}

async function ask(url: string, asked: Asked): Promise<Received> {
  const [path, asking = {}, method = 'GET'] = asked
  const { status, headers, bytes } = await send(method, url, path, asking)
  const { date, ...rest } = headers
  return { status, headers: rest, body: bytes.toString('latin1') }
}

/** The same over HTTP/2. */
async function askStream(session: ClientHttp2Session, asked: Asked): Promise<Received> {
  const [path, headers = {}, method = 'GET'] = asked
  const sent = session.request({ ...headers, ':path': path, ':method': method })
  sent.end()
  const head = new Promise<Record<string, unknown>>(resolve => sent.once('response', resolve))
  const { date, ':status': status, ...rest } = await head
  return { status: Number(status), headers: rest, body: (await buffer(sent)).toString('latin1') }
}

const [index = '', crate = '', big = ''] = Object.keys(FILES).map(path => `/${path}`)
const GZIP = { 'accept-encoding': 'deflate, gzip' }
const ASKED: readonly Asked[] = [
  [index],
  [index, GZIP],
  [index, { 'if-none-match': '*' }],
  [index, { 'if-none-match': '*', ...GZIP }],
  [index, { 'if-none-match': '"another"' }],
  [index, GZIP, 'HEAD'],
  [`${index}?x=1`],
  [`/${index}`],
  ['/index/de/mo/%64emo', GZIP],
  [crate, GZIP],
  ['/crates/demo/demo-1.0.0%2Bb.crate'],
  [crate, { range: 'bytes=2-4' }],
  [crate, { range: 'bytes=99-' }],
  [crate, {}, 'HEAD'],
  [big],
  [big, { range: 'bytes=-5' }],
  [big, { 'if-none-match': '*' }],
  [big, {}, 'HEAD'],
  ['/crates/demo/'],
]
const LEFT: readonly Asked[] = [
  ['/healthz'],
  ['/crates/demo'],
  ['/index/de/mo/none'],
  ['/index/de/mo/'],
  ['/index/../index/config.json'],
  ['/index/%2e%2e/secret'],
  ['/crates/none/', { accept: 'text/html' }],
  [index, {}, 'PUT'],
  [index, {}, 'OPTIONS'],
]
/** Requests that may change something never come to the quick answers. */
const SEEN = LEFT.filter(([, , method = 'GET']) => method === 'GET').length

test('quick answers over HTTP/1.1 are those of the app', async t => {
  const { slow, quick, counts } = await serve(t, await withFiles(t))
  const warm: Received[] = []
  for (const asked of [...ASKED, ...LEFT]) warm.push(await ask(slow, asked))
  for (const [at, asked] of ASKED.entries())
    assert.deepEqual(await ask(quick, asked), warm[at], JSON.stringify(asked))
  assert.equal(counts.left, 0)
  for (const [at, asked] of LEFT.entries())
    assert.deepEqual(await ask(quick, asked), warm[ASKED.length + at], JSON.stringify(asked))
  assert.equal(counts.left, SEEN)
})

test('quick answers over HTTP/2 are those of the app', async t => {
  const { slow, quick, counts } = await serve(t, await withFiles(t), true)
  const [app, here] = [slow, quick].map(url => connect(url, { rejectUnauthorized: false }))
  assert.ok(app && here)
  t.after(() => {
    app.destroy()
    here.destroy()
  })
  for (const asked of [...ASKED, ...LEFT]) {
    const expected = await askStream(app, asked)
    assert.deepEqual(await askStream(here, asked), expected, JSON.stringify(asked))
  }
  assert.equal(counts.left, SEEN)
})

test('no quick answer is older than a change by another process', async t => {
  const registry = await withFiles(t)
  const { quick, counts } = await serve(t, registry)
  const { dir, tree } = registry.registry
  const path = 'index/de/mo/demo'
  for (const content of ['one\n', 'two\n', 'two\n', null]) {
    await ask(quick, [`/${path}`])
    const before = counts.left
    assert.equal((await ask(quick, [`/${path}`])).status, 200)
    assert.equal(counts.left, before)
    const what = { root: tree.root, number: join(dir, 'locks', 'tree.changes'), path, content }
    execFileSync(process.execPath, ['--input-type=module', '-e', CHANGE, JSON.stringify(what)])
    const { status, body } = await ask(quick, [`/${path}`])
    if (content === null) assert.equal(status, 404)
    else assert.deepEqual([status, body], [200, content])
  }
})

/** A program that changes a file of a tree, as a command does. */
const CHANGE = `
  import { ChangeNumber } from ${moduleOf('change-number')}
  import { PublicTree } from ${moduleOf('public-tree')}
  const { root, number, path, content } = JSON.parse(process.argv[1])
  const tree = new PublicTree(root, 'never', { changes: new ChangeNumber(number) })
  if (content === null) await tree.remove(path)
  else await tree.write({ path, bytes: Buffer.from(content) })
`

function moduleOf(name: string): string {
  return JSON.stringify(new URL(`../../../generator/places/${name}.js`, import.meta.url).href)
}

test('quick answers count like those of the app', async t => {
  const registry = await withFiles(t)
  const { slow, quick } = await serve(t, registry)
  const counted = async () => {
    const response = await registry.request('GET', '/metrics')
    const { samples } = parseExposition(await response.text())
    return samples
      .filter(sample => sample.name === 'plimsoll_request_seconds_count')
      .filter(sample => sample.labels.includes('route="/*"'))
      .map(sample => [sample.labels, sample.value] as const)
  }
  for (const asked of ASKED) await ask(slow, asked)
  const once = await counted()
  assert.ok(once.length > 4)
  for (const asked of ASKED) await ask(quick, asked)
  const twice = once.map(([labels, value]) => [labels, 2 * value])
  // An answer of several pieces counts a moment after its last one has arrived.
  await until(
    async () => isDeepStrictEqual(await counted(), twice),
    'the quick answers do not count',
  )
})

test('where readers are asked who they are, or all is logged, the app answers', async t => {
  const open = await withFiles(t)
  t.mock.timers.reset()
  const guarded = await withFiles(t, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  t.mock.timers.reset()
  const logged = await withFiles(t, {}, 'debug')
  const isQuick = [open, guarded, logged].map(({ app }) => app.quick !== null)
  assert.deepEqual(isQuick, [true, false, false])
})

test('a client that leaves in the middle of a big crate leaves no open file', async t => {
  const registry = await withFiles(t)
  const { quick } = await serve(t, registry)
  await ask(quick, [big])
  const files = () => readdirSync('/proc/self/fd').length
  const before = files()
  for (let i = 0; i < 5; i++) {
    const client = await RawClient.open(quick)
    await client.send(`GET ${big} HTTP/1.1\r\nhost: crates.test\r\n\r\n`)
    await client.until(received => received.includes('0123456789'))
    client.socket.destroy()
  }
  await until(
    () => files() <= before,
    () => `${files()} open files, ${before} before`,
  )
})

test('of answers that are asked for ahead only one is read at a time, and all of them come', async t => {
  const registry = await withFiles(t)
  const { quick } = await serve(t, registry)
  await ask(quick, [big])
  const open = () => readdirSync('/proc/self/fd').filter(name => isLinkTo(name, 'demo-2.0.0.crate'))
  const client = await RawClient.open(quick)
  client.socket.pause()
  await client.send(`GET ${big} HTTP/1.1\r\nhost: crates.test\r\n\r\n`.repeat(5))
  await until(() => open().length > 0, 'nothing is read')
  await settle()
  assert.ok(open().length <= 1, `${open().length} open files`)
  client.socket.resume()
  await client.until(received => received.length > 5 * BIG.length)
  assert.equal(client.received.match(/HTTP\/1\.1 200 OK\r\n/g)?.length, 5)
})

/** Whether a descriptor of this process is for a file of this name. */
function isLinkTo(descriptor: string, name: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).endsWith(name)
  } catch {
    // It is closed by now, as that of the folder.
    return false
  }
}
