// Mirrors daemon/files/file-headers.ts
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { openServer } from '../../support/open-server.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { startS3 } from '../../support/s3/bucket.ts'

const INDEX = '/index/de/mo/demo'
const CRATE = '/crates/demo/demo-1.0.0.crate'
/** A file, a page, a redirect, answers that are made on request, and a file of all crates. */
const PATHS = [
  INDEX,
  CRATE,
  '/crates/demo/',
  '/crates/demo/latest/',
  '/api/v1/crates/demo',
  '/crates/demo/compare/',
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
  const keys: (string | null)[] = []
  for (const path of paths) {
    const answer = await test.request('GET', path)
    assert.ok(answer.status < 400, `${path}: ${answer.status}`)
    await answer.arrayBuffer()
    keys.push(answer.headers.get(name))
  }
  return keys
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
  const conditional = await test.request('GET', INDEX, null, { headers: { 'if-none-match': etag } })
  assert.deepEqual(
    [conditional.status, conditional.headers.get('surrogate-key')],
    [304, expected[0]],
  )
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
