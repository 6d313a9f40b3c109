import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { until } from '../../support/until.ts'

const PARTS = { name: 'demo', version: '1.0.0+b.1' }
const BYTES = Buffer.from(buildCrate(PARTS))
const CKSUM = createHash('sha256').update(BYTES).digest('hex')
const PATH = '/crates/demo/demo-1.0.0+b.1.crate'

/** A registry with its crates in a bucket, and a crate in it. */
async function opened(t: TestContext, more: Readonly<Record<string, string>> = {}) {
  const s3 = await startS3(new Cleanup(t))
  const env = { ...s3.env(), ...more }
  const test = await TestRegistry.open(t, { env })
  const token = await test.user('ana')
  assert.equal((await test.publish(token, PARTS)).status, 200)
  s3.requests.splice(0)
  return { s3, test, token }
}

test('a published crate is in the bucket, not in the tree, and downloads stream it', async t => {
  const { s3, test } = await opened(t)
  assert.deepEqual(s3.keys(), [`crates/de/mo/demo/${CKSUM}.crate`])
  assert.equal(existsSync(join(test.dir, 'public', PATH)), false)
  for (const path of [PATH, '/api/v1/crates/demo/1.0.0+b.1/download']) {
    const answer = await test.request('GET', path)
    assert.equal(answer.status, 200)
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), BYTES)
    assert.equal(answer.headers.get('content-length'), String(BYTES.length))
    assert.equal(answer.headers.get('content-type'), 'application/gzip')
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  }
  assert.deepEqual([...test.downloads.drain()], [[PATH.slice(1), 2]])
})

test('a crate that is gone from the tree comes from the folder that has its bytes', async t => {
  const test = await TestRegistry.open(t)
  assert.equal((await test.publish(await test.user('ana'), PARTS)).status, 200)
  rmSync(join(test.dir, 'public', PATH))
  for (const path of [PATH, '/api/v1/crates/demo/1.0.0+b.1/download']) {
    const answer = await test.request('GET', path)
    assert.deepEqual([answer.status, Buffer.from(await answer.arrayBuffer())], [200, BYTES])
  }
  assert.deepEqual([...test.downloads.drain()], [[PATH.slice(1), 2]])
})

test('what is not there is a 404: another version, spelling or crate, and lost bytes', async t => {
  const { s3, test } = await opened(t)
  const paths = [
    '/crates/demo/demo-1.0.0.crate',
    '/crates/demo/demo-2.0.0.crate',
    '/crates/other/other-1.0.0.crate',
    '/crates/demo/other-1.0.0.crate',
    '/crates/demo/%2e%2e.crate',
    '/crates/Demo/Demo-1.0.0+b.1.crate',
  ]
  for (const path of paths) assert.equal((await test.request('GET', path)).status, 404, path)
  s3.objects.clear()
  assert.equal((await test.request('GET', PATH)).status, 404)
})

test('downloads are redirected to the bucket or a CDN where the settings say so', async t => {
  const presigned = await opened(t, { PLIMSOLL_STORAGE_DOWNLOADS: 'presign' })
  const answer = await presigned.test.request('GET', PATH)
  assert.equal(answer.status, 302)
  assert.equal(answer.headers.get('cache-control'), 'private, no-store')
  const bytes = await (await fetch(answer.headers.get('location') ?? '')).arrayBuffer()
  assert.deepEqual(Buffer.from(bytes), BYTES)
  assert.deepEqual([...presigned.test.downloads.drain()], [[PATH.slice(1), 1]])
  const cdn = await opened(t, { PLIMSOLL_STORAGE_DOWNLOADS: 'https://cdn.example/c/' })
  const { headers } = await cdn.test.request('GET', PATH)
  assert.equal(headers.get('location'), `https://cdn.example/c/de/mo/demo/${CKSUM}.crate`)
})

test('a private registry asks for a token before it redirects or streams', async t => {
  const env = { PLIMSOLL_AUTH_REQUIRED: 'true' }
  const { test, token } = await opened(t, env)
  assert.equal((await test.request('GET', PATH)).status, 401)
  const answer = await test.request('GET', PATH, token)
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), BYTES)
  assert.equal(answer.headers.get('cache-control'), 'private, max-age=31536000, immutable')
})

test('a bucket that does not answer is a 503 for publishes, and nothing is published', async t => {
  const { s3, test, token } = await opened(t)
  s3.fault = () => 403
  const refused = await test.publish(token, { name: 'other', version: '1.0.0' })
  assert.equal(refused.status, 500)
  assert.match(refused.body.errors?.[0]?.detail ?? '', /the object storage refuses a request/)
  assert.equal((await test.request('GET', '/readyz')).status, 503)
  s3.fault = () => null
  assert.equal((await test.publish(token, { name: 'other', version: '1.0.0' })).status, 200)
})

test('clients that read nothing hold up neither publishes nor others, and get all of it later', async t => {
  const { test, token } = await opened(t)
  const files = { 'src/lib.rs': '', 'big.bin': randomBytes(500_000) }
  const big = { name: 'big', version: '1.0.0', files }
  assert.equal((await test.publish(token, big)).status, 200)
  const bytes = Buffer.from(buildCrate(big))
  const ask = async (remoteAddress: string, path = '/crates/big/big-1.0.0.crate') =>
    test.app.request(`${BASE}${path}`, {}, { incoming: { socket: { remoteAddress } } })
  const held = await Promise.all(Array.from({ length: 128 }, () => ask('2001:db8::1')))
  t.after(() => Promise.all(held.map(response => response.bodyUsed || response.body?.cancel())))
  for (const { status } of held) assert.equal(status, 200)
  const waiting = Array.from({ length: 128 }, () => ask('2001:db8::1'))
  const refused = await ask('2001:db8::2')
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '10'])
  const [{ detail }] = ((await refused.json()) as { errors: [{ detail: string }] }).errors
  assert.match(detail, /^too many clients are reading from the object storage right now; try again/)
  let published = 0
  void test.publish(token, { name: 'other', version: '1.0.0' }).then(({ status }) => {
    published = status
  })
  await until(() => published === 200, 'the publish waits for the downloads')
  const other = await ask('192.0.2.2', PATH)
  assert.deepEqual(Buffer.from(await other.arrayBuffer()), BYTES)
  for (const answer of [...held, ...waiting].map(answer => Promise.resolve(answer)))
    assert.deepEqual(Buffer.from(await (await answer).arrayBuffer()), bytes)
})
