import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CutOff, readMultipart } from '../../sample-app/parity/multipart.ts'

const BODY = Buffer.from(
  '\r\n--b\r\nA: 1\r\nB: 2\r\n\r\none\r\n--bx\r\n-\r\n--b\r\n\r\n\r\n--b\r\nC: 3\r\n\r\n\r\r\n--b--\r\n--b\r\nignored',
)
const PARTS = [
  { headers: { a: '1', b: '2' }, data: 'one\r\n--bx\r\n-' },
  { headers: {}, data: '' },
  { headers: { c: '3' }, data: '\r' },
]

/** The finished parts of a body that arrives in these pieces. */
async function read(pieces: readonly Buffer[], boundary = 'b') {
  const parts: { headers: Record<string, string>; data: string }[] = []
  async function* arriving() {
    yield* pieces
  }
  try {
    for await (const { headers, data } of readMultipart(arriving(), boundary)) {
      const part = { headers: Object.fromEntries(headers), data: '' }
      for await (const piece of data) part.data += piece
      parts.push(part)
    }
  } catch (error) {
    assert.ok(error instanceof CutOff)
  }
  return parts
}

test('the parts are the same wherever the body is cut into two', async () => {
  for (let at = 0; at <= BODY.length; at += 1) {
    assert.deepEqual(await read([BODY.subarray(0, at), BODY.subarray(at)]), PARTS, `cut at ${at}`)
  }
})

test('the parts are the same byte by byte', async () => {
  assert.deepEqual(await read([...BODY].map(byte => Buffer.from([byte]))), PARTS)
})

test('data that resembles the delimiter stays data', async () => {
  const data = '\r\n--\r\n--boundar\r\n--boundarX\r\n\r\n--boundary.\r\n--boundary-x\r'
  const body = Buffer.from(`--boundary\r\n\r\n${data}\r\n--boundary--`)
  for (const size of [1, 2, 3, 7, body.length]) {
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
      body.subarray(index * size, (index + 1) * size),
    )
    assert.deepEqual(await read(pieces, 'boundary'), [{ headers: {}, data }], `pieces of ${size}`)
  }
})

test('data that nobody reads is skipped', async () => {
  async function* arriving() {
    yield BODY
  }
  let parts = 0
  for await (const _ of readMultipart(arriving(), 'b')) parts += 1
  assert.equal(parts, PARTS.length)
})

test('a part that is cut off has no end', async () => {
  assert.deepEqual(await read([Buffer.from('--b\r\n\r\none\r\n--b\r\n\r\ntwo')]), [
    { headers: {}, data: 'one' },
  ])
})

test('a form without parts has none', async () => {
  for (const body of ['--b--\r\n', '\r\n--b--', '', '-', '--b', '--b\r'])
    assert.deepEqual(await read([Buffer.from(body)]), [], body)
})

test('text that only resembles a delimiter costs no piece of its own', async () => {
  const fragments = Buffer.from('\r\n--Bxx'.repeat(10_000))
  async function* arriving() {
    yield Buffer.from('--B\r\n\r\n')
    yield fragments
    yield Buffer.from('\r\n--B--')
  }
  const sizes: number[] = []
  for await (const { data } of readMultipart(arriving(), 'B')) {
    for await (const piece of data) sizes.push(piece.length)
  }
  assert.ok(sizes.length <= 2, String(sizes.length))
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    fragments.length,
  )
})

test('line breaks before the first delimiter end soon', async () => {
  let sent = 0
  async function* arriving() {
    for (; sent < 1024; sent += 1) yield Buffer.alloc(64 * 1024, '\n')
  }
  const reading = readMultipart(arriving(), 'b').next()
  await assert.rejects(Promise.resolve(reading), { status: 400 })
  assert.ok(sent < 2, String(sent))
})
