import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildCrate } from '../../support/crate-builder.ts'
import { settle } from '../../support/event-loop.ts'
import { openServer } from '../../support/open-server.ts'
import { head, RawClient } from '../../support/raw-client.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE, encodePublish, plainMetadata, publishRequest } from '../../support/release.ts'
import { until } from '../../support/until.ts'

const PATH = '/api/v1/crates/new'
const SUCCESS = { warnings: { invalid_categories: [], invalid_badges: [], other: [] } }
const REJECTED = errors(
  `this token is not valid: it is unknown or revoked; ${BASE}/me says how to get a new one`,
)
const TOO_BIG = errors(
  'the .crate is bigger than the 10 MiB allowed here; leave out what is not needed (`exclude` in Cargo.toml) or ask the operator to raise `limits.crate_bytes`',
)

function errors(detail: string) {
  return { errors: [{ detail }] }
}

/** A registry behind a real server. */
async function served(t: TestContext, env: Record<string, string> = {}) {
  const test = await TestRegistry.open(t, { env })
  const { request_seconds: requestSeconds } = test.registry.settings.limits
  const server = await openServer(t, { requestSeconds })
  server.answer(test.app.fetch)
  const token = await test.user('alice')
  return { test, token, client: () => RawClient.open(server.url) }
}

/** Sends a publish as chunks of a size. */
async function sendChunked(to: RawClient, authorization: string, body: Uint8Array, size: number) {
  await to.send(head('PUT', PATH, { authorization, 'transfer-encoding': 'chunked' }))
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size)
    await to.send(`${chunk.length.toString(16)}\r\n`)
    await to.send(chunk)
    await to.send('\r\n')
  }
  await to.send('0\r\n\r\n')
}

/** A body beyond every limit: a crate of 12 MiB. */
const HUGE = encodePublish(plainMetadata('huge', '1.0.0'), Buffer.alloc(12 * 1024 * 1024))

test('metadata beyond its limit is what is refused, not the .crate', async t => {
  const { test, token } = await served(t)
  const metadata = { ...plainMetadata('demo', '1.0.0'), description: 'x'.repeat(12 * 1024 * 1024) }
  const body = encodePublish(metadata, Buffer.alloc(1))
  const headers = { 'content-length': String(body.length) }
  const answer = await test.request('PUT', PATH, token, { headers, body })
  assert.equal(answer.status, 413)
  assert.match(
    await answer.text(),
    /the publish metadata with the README has 12 MiB; at most 1\.0 MiB are/,
  )
})

test('a publish over a socket, without Content-Type, whole or in chunks, on one connection', async t => {
  const { token, client } = await served(t)
  const first = publishRequest({ name: 'demo', version: '1.0.0' })
  const second = publishRequest({ name: 'demo', version: '1.0.1' })
  const connection = await client()
  await connection.send(head('PUT', PATH, { authorization: token, 'content-length': first.length }))
  await connection.send(first)
  const answer = await connection.answer()
  assert.deepEqual([answer.status, answer.body], [200, SUCCESS])
  assert.match(answer.head, /content-type: application\/json/i)
  await sendChunked(connection, token, second, 100)
  const chunked = await connection.answer()
  assert.deepEqual([chunked.status, chunked.body], [200, SUCCESS])
})

test('a refusal reaches a client that sends 12 MiB before it listens', async t => {
  const { test, token, client } = await served(t)
  const before = await test.everything()
  for (const [what, authorization, status, body] of [
    ['a bad token', 'nonsense', 403, REJECTED],
    ['too much', token, 413, TOO_BIG],
  ] as const) {
    const connection = await client()
    connection.socket.pause()
    await connection.send(head('PUT', PATH, { authorization, 'content-length': HUGE.length }))
    for (let at = 0; at < HUGE.length; at += 1 << 20)
      await connection.send(HUGE.subarray(at, at + (1 << 20)))
    // The library would close the connection 500 ms after an answer to half a body.
    connection.socket.resume()
    const answer = await connection.answer()
    assert.deepEqual([answer.status, answer.body], [status, body], what)
    await connection.send(head('GET', '/index/config.json', {}))
    assert.equal((await connection.answer()).status, 200, `${what}: the connection is still good`)
  }
  assert.deepEqual(await test.everything(), before)
})

test('a refusal waits for a client that sends slowly', async t => {
  const { client } = await served(t)
  const connection = await client()
  await connection.send(head('PUT', PATH, { authorization: 'nonsense', 'content-length': 100 }))
  for (let i = 0; i < 10; i++) {
    assert.equal(connection.received, '', 'no answer before the end')
    await settle()
    await connection.send(Buffer.alloc(10))
  }
  const answer = await connection.answer()
  assert.deepEqual([answer.status, answer.body], [403, REJECTED])
})

test('a refusal does not wait longer than limits.request_seconds', async t => {
  const { client } = await served(t, { PLIMSOLL_LIMITS_REQUEST_SECONDS: '1' })
  const connection = await client()
  await connection.send(head('PUT', PATH, { authorization: 'nonsense', 'content-length': 100 }))
  await connection.send(Buffer.alloc(10))
  assert.equal((await connection.answer()).status, 403)
})

test('too much is 413, whatever Content-Length says or does not say', async t => {
  const { test, token, client } = await served(t)
  const before = await test.everything()
  const connection = await client()
  await sendChunked(connection, token, HUGE, 1 << 20)
  assert.deepEqual((await connection.answer()).body, TOO_BIG)
  const short = await client()
  await short.send(head('PUT', PATH, { authorization: token, 'content-length': 5000 }))
  await short.send(HUGE.subarray(0, 5000))
  assert.deepEqual((await short.answer()).body, TOO_BIG, 'the frame announces 12 MiB')
  const none = await client()
  await none.send(head('PUT', PATH, { authorization: token }))
  const ends =
    'the publish request ends inside the length of the metadata, for which 4 bytes were announced'
  assert.deepEqual((await none.answer()).body, errors(ends))
  assert.deepEqual(await test.everything(), before)
})

test('Expect: 100-continue gets its 100, and after it the answer', async t => {
  const { token, client } = await served(t)
  const body = publishRequest({ name: 'demo', version: '1.0.0' })
  const connection = await client()
  const expect = { expect: '100-continue', 'content-length': body.length }
  await connection.send(head('PUT', PATH, { ...expect, authorization: token }))
  assert.equal(await connection.until(received => received !== ''), 'HTTP/1.1 100 Continue\r\n\r\n')
  await connection.send(body)
  assert.deepEqual((await connection.answer()).body, SUCCESS)
  const refused = await client()
  await refused.send(head('PUT', PATH, { ...expect, authorization: 'nonsense' }))
  await refused.until(received => received !== '')
  await refused.send(body)
  const answer = await refused.answer()
  assert.deepEqual([answer.status, answer.body], [403, REJECTED])
})

test('a client that vanishes half-way leaves nothing, and is no failure of the daemon', async t => {
  const { test, token, client } = await served(t)
  // The first use of a token is recorded and synced before its request is read.
  await test.request('PUT', PATH, token, { body: '' })
  test.logged.splice(0)
  const before = await test.everything()
  // More than is collected before the first write.
  const files = { 'src/data.bin': randomBytes(100_000).toString('latin1') }
  const crate = buildCrate({ name: 'gone', version: '1.0.0', files })
  const body = encodePublish(plainMetadata('gone', '1.0.0'), crate)
  const incoming = join(test.dir, 'crates', 'incoming')
  for (const [what, end] of [
    ['in the metadata', 50],
    ['in the crate', body.length - 50],
  ] as const) {
    const connection = await client()
    const length = { 'content-length': body.length }
    await connection.send(head('PUT', PATH, { authorization: token, ...length }))
    await connection.send(body.subarray(0, end))
    await settle()
    if (what === 'in the crate') {
      await until(
        () => existsSync(incoming) && readdirSync(incoming).length > 0,
        'nothing is being received',
      )
      assert.equal(readdirSync(incoming).length, 1, 'it is being received')
    }
    connection.socket.resetAndDestroy()
    await until(() => test.logged.length > 0, 'nothing was logged')
    assert.deepEqual(await test.everything(), before, what)
    const lines = test.logged.splice(0).map(line => JSON.parse(line))
    const warned = lines.map(({ level, status }) => [level, status])
    assert.deepEqual(warned, [[40, 400]], what)
  }
})

test('requests that two servers could read as two are refused', async t => {
  const { test, token, client } = await served(t)
  const before = await test.everything()
  const body = publishRequest({ name: 'demo', version: '1.0.0' })
  const put = (headers: Record<string, string | number>) =>
    head('PUT', PATH, { authorization: token, ...headers })
  const get = (headers: string) => `GET /index/config.json HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
  const rows: [what: string, bytes: string][] = [
    ['both lengths', put({ 'content-length': body.length, 'transfer-encoding': 'chunked' })],
    ['two lengths', put({ 'content-length': 5, 'Content-Length': 6 })],
    ['a length that is none', put({ 'content-length': '+5' })],
    ['an unknown encoding', put({ 'transfer-encoding': 'xchunked' })],
    ['a bare line feed', get('').replaceAll('\r', '')],
    ['a folded header', get(' y\r\n')],
    ['a NUL in a header', get('authorization: a\0b\r\n')],
  ]
  for (const [what, bytes] of rows) {
    const connection = await client()
    await connection.send(bytes)
    const received = await connection.until((text, isClosed) => text !== '' || isClosed)
    assert.match(received, /^HTTP\/1\.1 400 /, what)
  }
  assert.deepEqual(await test.everything(), before)
})

test('a connection on which nothing moves is closed, a half-sent head, too', async t => {
  const { url } = await openServer(t, { requestSeconds: -1.8 })
  const [silent, half] = [await RawClient.open(url), await RawClient.open(url)]
  await half.send('GET /index/config.json HTTP/1.1\r\nhost: x\r\n')
  // Whichever comes first: the limit of the connection says nothing, that of the head says 408.
  for (const connection of [silent, half])
    assert.match(await connection.until((_, isClosed) => isClosed), /^(?:HTTP\/1\.1 408 |$)/)
})
