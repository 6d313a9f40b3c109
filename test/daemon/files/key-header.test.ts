// Mirrors daemon/files/file-headers.ts
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { deleteReleases } from '../../../generator/registry/delete.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { KeyCache } from '../../support/key-cache.ts'
import { openServer } from '../../support/open-server.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { until } from '../../support/until.ts'
import { OPERATOR } from '../../support/workplace.ts'

const INDEX = '/index/de/mo/demo'
const CRATE = '/crates/demo/demo-1.0.0.crate'
/** A file, a page, a redirect, answers that are made on request, and a file of all crates. */
const PATHS = [
  INDEX,
  CRATE,
  '/crates/demo/',
  '/crates/demo/latest/',
  '/api/v1/crates/demo',
  '/crates/demo/compare/1.0.0...1.1.0',
  '/search/layout.json',
  '/api/v1/crates?q=demo',
]

async function opened(t: TestContext, env: Readonly<Record<string, string>>) {
  const test = await TestRegistry.open(t, { env, logLevel: 'info' })
  const token = await test.user('ana')
  const publish = async (version: string) => {
    const answer = await test.publish(token, { name: 'demo', version })
    assert.equal(answer.status, 200)
    await test.indexWorker.settle()
    await test.indexWorker.pages.flush()
  }
  await publish('1.0.0')
  return { test, token, publish }
}

/** Serves a registry with quick answers; returns the address. */
async function served(t: TestContext, test: TestRegistry): Promise<string> {
  const server = await openServer(t)
  server.answer(test.app.fetch, test.app.quick)
  return server.url
}

/** The header with this name in the answer to each of the paths. */
async function headersOf(test: TestRegistry, name: string, paths: readonly string[]) {
  const found: (string | null)[] = []
  for (const path of paths) {
    const answer = await test.request('GET', path)
    assert.ok(answer.status < 400, `${path}: ${answer.status}`)
    await answer.arrayBuffer()
    found.push(answer.headers.get(name))
  }
  return found
}

test('answers have no keys unless the settings name a header', async t => {
  const { test, publish } = await opened(t, {})
  await publish('1.1.0')
  for (const name of ['surrogate-key', 'cache-tag', 'edge-cache-tag', 'xkey'])
    assert.deepEqual(
      await headersOf(test, name, PATHS),
      PATHS.map(() => null),
    )
})

test('what belongs to a crate has its keys, by quick answers, the app and on request', async t => {
  const { test, publish } = await opened(t, { PLIMSOLL_CDN_KEY_HEADER: 'Surrogate-Key' })
  await publish('1.1.0')
  const url = await served(t, test)
  const expected = [
    'index-demo crate-demo index',
    'package-demo crate-demo package',
    'pages-demo crate-demo pages',
    'pages-demo crate-demo pages',
    'pages-demo crate-demo api',
    'source-demo crate-demo source',
    'search',
    'search',
  ]
  assert.deepEqual(await headersOf(test, 'surrogate-key', PATHS), expected)
  // The second time, files come from memory, before the app.
  for (const time of ['first', 'second'])
    for (const [at, path] of PATHS.entries()) {
      const answer = await fetch(url + path, { redirect: 'manual' })
      assert.equal(answer.headers.get('surrogate-key'), expected[at], `${path}, the ${time} time`)
    }
  const etag = (await test.request('GET', INDEX)).headers.get('etag') ?? ''
  const known = await test.request('GET', INDEX, null, { headers: { 'if-none-match': etag } })
  assert.deepEqual([known.status, known.headers.get('surrogate-key')], [304, expected[0]])
})

test('tags are separated by commas, and what no cache may keep has none', async t => {
  const { test } = await opened(t, { PLIMSOLL_CDN_KEY_HEADER: 'Cache-Tag' })
  const tags = ['index-demo,crate-demo,index', 'package-demo,crate-demo,package']
  assert.deepEqual(await headersOf(test, 'cache-tag', [INDEX, CRATE]), tags)
  for (const path of ['/me/login', '/index/un/kn/unknown', '/crates/unknown/', '/metrics'])
    assert.equal((await test.request('GET', path)).headers.get('cache-tag'), null, path)
})

test('the daemon of a private registry sends no keys', async t => {
  const env = { PLIMSOLL_CDN_KEY_HEADER: 'Cache-Tag', PLIMSOLL_AUTH_REQUIRED: 'true' }
  const { test, token } = await opened(t, env)
  const answer = await test.request('GET', INDEX, token)
  assert.deepEqual([answer.status, answer.headers.get('cache-tag')], [200, null])
})

test('a .crate in a bucket has the keys of its crate at every address', async t => {
  const s3 = await startS3(new Cleanup(t))
  const { test } = await opened(t, {
    ...s3.env(),
    PLIMSOLL_CDN_KEY_HEADER: 'Surrogate-Key',
    PLIMSOLL_REGISTRY_DL: `${BASE}/dl`,
  })
  const paths = [CRATE, '/api/v1/crates/demo/1.0.0/download', '/dl/demo/1.0.0/download']
  const keys = 'package-demo crate-demo package'
  assert.deepEqual(await headersOf(test, 'surrogate-key', paths), [keys, keys, keys])
})

test('a cache that is purged by key shows a publish, a yank and a deletion, and keeps the rest', async t => {
  const cache = await KeyCache.start(new Cleanup(t))
  const { test, token, publish } = await opened(t, {
    PLIMSOLL_CDN_KEY_HEADER: 'Surrogate-Key',
    PLIMSOLL_CDN_PURGE_URL: `${cache.url}/purge`,
    PLIMSOLL_CDN_PURGE_BODY: '{"surrogate_keys": {keys}}',
  })
  const url = await served(t, test)
  const get = async (path: string) => (await cache.get(url, path)).body
  const shows = (path: string, pattern: RegExp) =>
    until(
      async () => pattern.test(await get(path)),
      () => `${path} does not show ${pattern}`,
    )
  const { cdn } = test.registry.tree
  const settled = () =>
    until(
      () => cdn?.waiting === 0,
      () => 'something waits to be purged',
    )
  await settled()
  for (const path of PATHS.slice(0, 5)) await get(path)
  const first = cache.asked.length
  for (const path of PATHS.slice(0, 5)) await get(path)
  assert.equal(cache.asked.length, first)
  cache.purges.splice(0)
  await publish('1.1.0')
  await shows(INDEX, /"vers":"1\.1\.0"/)
  await shows('/crates/demo/', /1\.1\.0/)
  await shows('/api/v1/crates/demo', /1\.1\.0/)
  await settled()
  // Each key once, or twice when the pages come half a second after the index.
  assert.ok(cache.purges.length <= 3, JSON.stringify(cache.purges))
  assert.equal(
    await test.request('DELETE', '/api/v1/crates/demo/1.1.0/yank', token).then(r => r.status),
    200,
  )
  await test.indexWorker.settle()
  await shows(INDEX, /"vers":"1\.1\.0".*"yanked":true/)
  await get(CRATE)
  assert.equal(cache.asked.filter(path => path === CRATE).length, 1)
  const deletion = { name: parseName('demo'), version: parseVersion('1.0.0'), force: true }
  await deleteReleases(test.registry, deletion, OPERATOR)
  await until(
    async () => (await cache.get(url, CRATE)).status === 404,
    () => 'the deleted .crate is still there',
  )
})
