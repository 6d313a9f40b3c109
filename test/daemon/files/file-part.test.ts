import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { type FilePart, openPart } from '../../../daemon/files/file-part.ts'
import { settle } from '../../support/event-loop.ts'
import { folderOf } from '../../support/workplace.ts'

/** Bytes that are nowhere the same, so that none can be sent in the place of others. */
const BYTES = Buffer.concat(
  Array.from({ length: 40_000 }, (_, at) => createHash('sha256').update(String(at)).digest()),
)

/** A file with these bytes, and its whole. */
function whole(t: TestContext, name = 'file'): FilePart {
  const file = join(folderOf(t), name)
  writeFileSync(file, BYTES)
  return { file, stats: statSync(file), start: 0, end: BYTES.length - 1 }
}

/** Sends a part to somebody who takes bytes as the system does: they are copied. */
async function sent(part: FilePart): Promise<Buffer> {
  const received: Buffer[] = []
  const out = new Writable({
    write(chunk: Buffer, _, done) {
      received.push(Buffer.from(chunk))
      setImmediate(done)
    },
  })
  const open = await openPart(part)
  assert.ok(open)
  await open.send(out)
  assert.ok(out.writableFinished)
  return Buffer.concat(received)
}

/** Whether this process has a file open. */
function isOpen(file: string): boolean {
  return readdirSync('/proc/self/fd').some(name => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === file
    } catch {
      return false
    }
  })
}

test('all bytes are sent in their order, each time, and the file is closed', async t => {
  const part = whole(t)
  assert.ok((await sent(part)).equals(BYTES))
  const many = await Promise.all(Array.from({ length: 20 }, () => sent(part)))
  assert.ok(many.every(bytes => bytes.equals(BYTES)))
  assert.ok(!isOpen(part.file))
})

test('a part is its bytes from the first to the last', async t => {
  const part = whole(t)
  for (const [start, end] of [
    [0, 0],
    [7, 300_000],
    [262_144, 524_287],
    [BYTES.length - 1, BYTES.length - 1],
  ] as const)
    assert.ok((await sent({ ...part, start, end })).equals(BYTES.subarray(start, end + 1)))
})

test('memory is not used again before its bytes are taken', async t => {
  const part = whole(t)
  await sent(part)
  const open = await openPart(part)
  const held: Buffer[] = []
  let go = () => {}
  const slow = new Writable({
    write(chunk: Buffer, _, done) {
      held.push(chunk)
      go = done
    },
  })
  const sending = open?.send(slow)
  const received = createHash('sha256')
  for (let size = 0; size < BYTES.length; ) {
    await settle()
    // Others that are sent meanwhile have memory of their own.
    await sent(part)
    for (const chunk of held.splice(0)) {
      size += chunk.length
      received.update(chunk)
    }
    go()
  }
  await sending
  assert.equal(received.digest('hex'), createHash('sha256').update(BYTES).digest('hex'))
})

test('a client that leaves ends the reading without an error', async t => {
  const part = whole(t)
  const open = await openPart(part)
  const out = new PassThrough()
  const sending = open?.send(out)
  await settle()
  out.destroy()
  await sending
  assert.ok(!isOpen(part.file))
  const gone = await openPart(part)
  await gone?.send(out)
  assert.ok(!isOpen(part.file))
})

test('a file that becomes shorter breaks the connection: its length was promised', async t => {
  const part = whole(t)
  const open = await openPart(part)
  truncateSync(part.file, 1000)
  const out = new PassThrough()
  out.resume()
  await assert.rejects(async () => open?.send(out), /a file has become shorter/)
  assert.ok(out.destroyed)
  assert.ok(!isOpen(part.file))
})

test('a file that was replaced is not opened', async t => {
  const part = whole(t)
  writeFileSync(`${part.file}.new`, BYTES)
  renameSync(`${part.file}.new`, part.file)
  assert.equal(await openPart(part), null)
  assert.ok(!isOpen(part.file))
})
