// Mirrors daemon/workers/download-worker.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeDurably } from '../../../generator/places/disk/durable.ts'
import { openServer } from '../../support/open-server.ts'
import { TestRegistry } from '../../support/registry.ts'

const PATH = 'crates/demo/demo-1.0.0.crate'

/** What the pages of sources ask for: `site/browser/sources/workers/load.ts`. */
const READING = 'application/gzip;reader=sources, */*'

interface Asked {
  readonly what: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly method?: string
  readonly counts: 0 | 1
}

const ASKED: readonly Asked[] = [
  { what: 'a whole file', counts: 1 },
  { what: 'by the web API', path: '/api/v1/crates/Demo/1.0.0/download', counts: 1 },
  { what: 'with an encoded path', path: '/crates/demo/demo%2D1.0.0.crate', counts: 1 },
  { what: 'the first part', headers: { range: 'bytes=0-9' }, counts: 1 },
  { what: 'a later part', headers: { range: 'bytes=10-19' }, counts: 0 },
  { what: 'a part beyond the end', headers: { range: 'bytes=9999999-' }, counts: 0 },
  { what: 'what the client has', headers: { 'if-none-match': '*' }, counts: 0 },
  { what: 'to show its sources', headers: { accept: READING }, counts: 0 },
  {
    what: 'to show its sources, by the web API',
    path: '/api/v1/crates/Demo/1.0.0/download',
    headers: { accept: READING },
    counts: 0,
  },
  { what: 'before anybody clicks', headers: { 'sec-purpose': 'prefetch;prerender' }, counts: 0 },
  { what: 'only the head', method: 'HEAD', counts: 0 },
  { what: 'a file that is not there', path: '/crates/demo/demo-9.0.0.crate', counts: 0 },
  { what: 'another file', path: '/crates/demo/crate.json', counts: 0 },
]

for (const env of [{}, { PLIMSOLL_AUTH_REQUIRED: 'true' }]) {
  const kind = 'PLIMSOLL_AUTH_REQUIRED' in env ? 'private' : 'public'
  test(`what counts as a download in a ${kind} registry, once each`, async t => {
    const registry = await TestRegistry.open(t, { env, logLevel: 'info' })
    const token = await registry.user('alice')
    await registry.publish(token, { name: 'demo', version: '1.0.0' })
    await registry.indexWorker.pages.flush()
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
    const server = await openServer(t)
    server.answer(registry.app.fetch, registry.app.quick)
    assert.equal(registry.app.quick === null, kind === 'private')
    // Twice: the first answer comes from the disk, later ones from memory.
    for (const { what, path = `/${PATH}`, headers, method = 'GET', counts } of [
      ...ASKED,
      ...ASKED,
    ]) {
      const answer = await fetch(`${server.url}${path}`, {
        method,
        headers: { authorization: token, ...headers },
      })
      await answer.arrayBuffer()
      const counted = [...registry.downloads.drain()]
      assert.deepEqual(counted, counts === 1 ? [[PATH, 1]] : [], `${what}: ${answer.status}`)
    }
  })
}

for (const count of ['imported', 'off'])
  test(`nothing is counted when \`downloads.count\` is "${count}"`, async t => {
    const registry = await TestRegistry.open(t, { env: { PLIMSOLL_DOWNLOADS_COUNT: count } })
    await registry.publish(await registry.user('alice'), { name: 'demo', version: '1.0.0' })
    const answer = await registry.request('GET', `/${PATH}`)
    assert.equal(answer.status, 200)
    assert.equal(registry.downloads.drain().size, 0)
  })

test('a file that is streamed is counted once', async t => {
  const registry = await TestRegistry.open(t)
  const file = registry.registry.tree.path(PATH)
  await writeDurably(file, Buffer.alloc(3_000_000, 'x'))
  const answer = await registry.request('GET', `/${PATH}`)
  assert.equal((await answer.arrayBuffer()).byteLength, 3_000_000)
  assert.deepEqual([...registry.downloads.drain()], [[PATH, 1]])
})
