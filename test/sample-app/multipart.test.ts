import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMultipart } from '../../sample-app/parity/parts.ts'
import { Spool } from '../../sample-app/parity/spool.ts'

const NAMED = 'Content-Disposition: form-data; filename=f; name='
const BODY = Buffer.from(
  `\r\n--b\r\n${NAMED}1\r\nContent-Type: 2\r\n\r\none\r\n--bx\r\n-\r\n--b\r\n${NAMED}""\r\n\r\n\r\n--b\r\n${NAMED}3\r\n\r\n\r\r\n--b--\r\n--b\r\nignored`,
)
const PARTS = [
  { name: '1', type: '2', data: 'one\r\n--bx\r\n-' },
  { name: '', type: '', data: '' },
  { name: '3', type: '', data: '\r' },
]

/** The finished parts of a body that arrives in these pieces, all of them files. */
async function read(pieces: readonly Buffer[], boundary = 'b') {
  const spool = new Spool()
  const received = []
  const type = `multipart/form-data; boundary=${boundary}`
  for await (const part of readMultipart(pieces, type, spool)) received.push(part)
  const spooled = await spool.read()
  const parts = received.map(async ({ name, type, start, end }) => {
    return { name, type, data: await spooled.slice(start, end).text() }
  })
  const read = await Promise.all(parts)
  await spool.close()
  return read
}

test('the parts are the same wherever the body is cut into two', async () => {
  for (let at = 0; at <= BODY.length; at += 1) {
    assert.deepEqual(await read([BODY.subarray(0, at), BODY.subarray(at)]), PARTS, `cut at ${at}`)
  }
})

test('data that resembles the delimiter stays data', async () => {
  const data = '\r\n--\r\n--boundar\r\n--boundarX\r\n\r\n--boundary.\r\n--boundary-x\r'
  const body = Buffer.from(`--boundary\r\n${NAMED}a\r\n\r\n${data}\r\n--boundary--`)
  for (const size of [1, 2, 3, 7, body.length]) {
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
      body.subarray(index * size, (index + 1) * size),
    )
    const expected = [{ name: 'a', type: '', data }]
    assert.deepEqual(await read(pieces, 'boundary'), expected, `pieces of ${size}`)
  }
})

test('a part that is cut off has no end', async () => {
  const body = Buffer.from(`--b\r\n${NAMED}1\r\n\r\none\r\n--b\r\n${NAMED}2\r\n\r\ntwo`)
  assert.deepEqual(await read([body]), [{ name: '1', type: '', data: 'one' }])
})

test('a form without parts has none', async () => {
  for (const body of ['--b--\r\n', '\r\n--b--', '', '-', '--b', '--b\r'])
    assert.deepEqual(await read([Buffer.from(body)]), [], body)
})

test('text that only resembles a delimiter costs no piece of its own', async () => {
  const fragments = Buffer.from('\r\n--Bxx'.repeat(10_000))
  async function* arriving() {
    yield Buffer.from(`--B\r\n${NAMED}a\r\n\r\n`)
    yield fragments
    yield Buffer.from('\r\n--B--')
  }
  const sizes: number[] = []
  class Counted extends Spool {
    override async write(bytes: string) {
      sizes.push(bytes.length)
    }
  }
  const reading = readMultipart(arriving(), 'multipart/form-data; boundary=B', new Counted())
  assert.equal((await reading.next()).done, false)
  assert.ok(sizes.length <= 3, String(sizes.length))
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
  const reading = readMultipart(arriving(), 'multipart/form-data; boundary=b', new Spool()).next()
  await assert.rejects(Promise.resolve(reading), { status: 400 })
  assert.ok(sent < 2, String(sent))
})
