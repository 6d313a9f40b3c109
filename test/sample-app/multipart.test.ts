import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findParts, readPart, type Span } from '../../sample-app/parity/multipart.ts'

const BODY = Buffer.from(
  '\r\n--b\r\nA: 1\r\nB: 2\r\n\r\none\r\n--bx\r\n-\r\n--b\r\n\r\n\r\n--b\r\nC: 3\r\n\r\n\r\r\n--b--\r\n--b\r\nignored',
)
const PARTS = [
  { headers: { a: '1', b: '2' }, data: 'one\r\n--bx\r\n-' },
  { headers: {}, data: '' },
  { headers: { c: '3' }, data: '\r' },
]

async function* arriving(pieces: readonly Buffer[]) {
  yield* pieces
}

/** The finished parts of a body that arrives in these pieces. */
async function read(pieces: readonly Buffer[], boundary = 'b', limit = 10) {
  const spans: Span[] = []
  const passed: Uint8Array<ArrayBuffer>[] = []
  for await (const piece of findParts(arriving(pieces), boundary, limit, spans))
    passed.push(Uint8Array.from(piece))
  const body = new Blob(passed)
  const parts = await Promise.all(spans.map(span => readPart(body, span)))
  return Promise.all(
    parts
      .filter(part => part !== undefined)
      .map(async ({ headers, data }) => ({
        headers: Object.fromEntries(headers),
        data: await data.text(),
      })),
  )
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

test('a part that is cut off is as good as not sent', async () => {
  for (const last of ['', 'A', 'A: 1\r\n', '\r\n', '\r\ntwo', 'A: 1\r\n\r\ntwo']) {
    const parts = await read([Buffer.from(`--b\r\n\r\none\r\n--b\r\n${last}`)])
    assert.deepEqual(parts, [{ headers: {}, data: 'one' }], last)
  }
})

test('a form without parts has none', async () => {
  for (const body of ['--b--\r\n', '\r\n--b--', '', '\r\n', '-', '--b', '--b\r'])
    assert.deepEqual(await read([Buffer.from(body)]), [], body)
})

test('text that only resembles a delimiter is passed on as it arrives', async () => {
  const pieces = ['--B\r\n\r\n', '\r\n--Bxx'.repeat(10_000), '\r\n--B--'].map(text =>
    Buffer.from(text),
  )
  const [spans, passed]: [Span[], Uint8Array[]] = [[], []]
  for await (const piece of findParts(arriving(pieces), 'B', 10, spans)) passed.push(piece)
  assert.deepEqual(passed, pieces)
  assert.deepEqual(spans, [{ start: 3, end: 7 + 70_000 }])
})

/** The pieces that were taken before the body was refused, or enough of it was read. */
async function taken(piece: Buffer): Promise<[number, unknown]> {
  let sent = 0
  async function* endless() {
    for (; sent < 1024; sent += 1) yield piece
  }
  try {
    for await (const _ of findParts(endless(), 'b', 1000, []));
  } catch (error) {
    return [sent, Object(error).status]
  }
  return [sent, undefined]
}

test('line breaks before the first delimiter end soon', async () => {
  assert.deepEqual(await taken(Buffer.alloc(64 * 1024, '\n')), [0, 400])
  assert.deepEqual(await taken(Buffer.alloc(1000, 'x')), [16, 400])
})

test('more parts than any form may have are not waited for', async () => {
  assert.deepEqual(await taken(Buffer.from('\r\n--b\r\n\r\n'.repeat(100))), [10, undefined])
})
