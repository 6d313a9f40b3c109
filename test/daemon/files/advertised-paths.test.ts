import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { verify } from '../../../generator/verify/verify.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { startS3 } from '../../support/s3/bucket.ts'

const DEMO = { name: 'Demo_x', version: '1.0.0-rc.1+b.2' }
const CKSUM = createHash('sha256').update(buildCrate(DEMO)).digest('hex')

async function opened(t: TestContext, template: string, env: Record<string, string> = {}) {
  const dl = { PLIMSOLL_REGISTRY_DL: `${BASE}${template}` }
  const test = await TestRegistry.open(t, { env: { ...dl, ...env }, logLevel: 'warn' })
  const token = await test.user('alice')
  const { status } = await test.publish(token, DEMO)
  assert.equal(status, 200)
  return { test, token }
}

/** Returns status and text of an answer, whose body is read in any case. */
async function ask(test: TestRegistry, path: string, init: RequestInit = {}) {
  const answer = await test.app.request(`${BASE}${path}`, init)
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, headers: answer.headers, bytes }
}

const TEMPLATES: readonly (readonly [template: string, path: string, wrong: readonly string[]])[] =
  [
    [
      '/files/{prefix}/{crate}-{version}.crate',
      '/files/De/mo/Demo_x-1.0.0-rc.1+b.2.crate',
      ['/files/de/mo/Demo_x-1.0.0-rc.1+b.2.crate', '/files/De/mo/Demo_x-1.0.0.crate'],
    ],
    [
      '/b/{sha256-checksum}',
      `/b/${CKSUM}`,
      [`/b/${'0'.repeat(64)}`, `/b/${CKSUM.toUpperCase()}`, `/b/${CKSUM}/`.slice(0, -2)],
    ],
    [
      '/all/{lowerprefix}/{crate}/{prefix}/{version}/{sha256-checksum}.bin',
      `/all/de/mo/Demo_x/De/mo/1.0.0-rc.1+b.2/${CKSUM}.bin`,
      [
        `/all/de/mo/Demo_x/De/mo/1.0.0-rc.1+b.2/${'0'.repeat(64)}.bin`,
        `/all/de/mo/Demo_x/De/mo/1.0.0/${CKSUM}.bin`,
        `/all/de/mo/Demo_y/De/mo/1.0.0-rc.1+b.2/${CKSUM}.bin`,
      ],
    ],
  ]

for (const [template, path, wrong] of TEMPLATES) {
  for (const place of ['a folder', 'a bucket'])
    test(`${template} is answered from ${place}: whole, in parts, once, and counted`, async t => {
      const env = place === 'a bucket' ? (await startS3(new Cleanup(t))).env() : {}
      const { test, token } = await opened(t, template, env)
      const whole = await ask(test, path)
      assert.equal(whole.status, 200)
      assert.ok(whole.bytes.equals(buildCrate(DEMO)))
      assert.equal(whole.headers.get('content-type'), 'application/gzip')
      const encoded = await ask(test, path.replaceAll('+', '%2B'))
      assert.ok(encoded.bytes.equals(whole.bytes))
      const etag = whole.headers.get('etag') ?? ''
      const conditional = await ask(test, path, { headers: { 'if-none-match': etag } })
      assert.deepEqual([conditional.status, conditional.bytes.length], [304, 0])
      const part = await ask(test, path, { headers: { range: 'bytes=1-4' } })
      assert.deepEqual([part.status, part.bytes], [206, whole.bytes.subarray(1, 5)])
      const head = await ask(test, path, { method: 'HEAD' })
      assert.equal(head.headers.get('content-length'), String(whole.bytes.length))
      assert.equal((await ask(test, path, { method: 'PUT' })).status, 404)
      for (const other of wrong) assert.equal((await ask(test, other)).status, 404, other)
      const counted = [['crates/Demo_x/Demo_x-1.0.0-rc.1+b.2.crate', 2]]
      assert.deepEqual([...test.downloads.drain()], counted)
      await test.request('DELETE', '/api/v1/crates/Demo_x/1.0.0-rc.1+b.2/yank', token)
      assert.equal((await ask(test, path)).status, 200)
      await test.delete('Demo_x')
      assert.equal((await ask(test, path)).status, 404)
    })

  test(`${template} of a private registry is for its readers`, async t => {
    const { test, token } = await opened(t, template, { PLIMSOLL_AUTH_REQUIRED: 'true' })
    const as = (authorization: string) => ask(test, path, { headers: { authorization } })
    for (const method of ['GET', 'HEAD']) {
      const stranger = await ask(test, path, { method })
      assert.equal(stranger.status, 401)
      assert.match(stranger.headers.get('www-authenticate') ?? '', /^Cargo /)
    }
    assert.equal((await as('wrong')).status, 401)
    const publisher = await test.user('bob', { scopes: ['publish-new'] })
    assert.equal((await as(publisher)).status, 403)
    const good = await as(token)
    assert.deepEqual([good.status, good.bytes.equals(buildCrate(DEMO))], [200, true])
    assert.match(good.headers.get('cache-control') ?? '', /private/)
    for (const other of wrong) assert.equal((await ask(test, other)).status, 401, other)
  })
}

test('verify finds a template that nobody can answer', async t => {
  const { test } = await opened(t, '/d/{crate}')
  const answers = []
  for await (const fault of verify(test.registry, { repair: false, served: true }))
    answers.push(fault)
  assert.match(
    answers.find(finding => finding.lost)?.what ?? '',
    /^no download works: two releases/,
  )
})

test('a template with the path of a base URL is answered with and without it', async t => {
  const env = {
    PLIMSOLL_REGISTRY_BASE_URL: `${BASE}/cargo`,
    PLIMSOLL_REGISTRY_DL: `${BASE}/cargo/f/{crate}/{version}`,
  }
  const { test } = await opened(t, '', env)
  for (const path of ['/cargo/f/Demo_x/1.0.0-rc.1+b.2', '/f/Demo_x/1.0.0-rc.1+b.2'])
    assert.equal((await ask(test, path)).status, 200, path)
})
