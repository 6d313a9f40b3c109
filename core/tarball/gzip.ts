import type { InflateRaw } from 'node:zlib'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { type Issue, refuse } from '../error/error.ts'
import { ByteReader } from './bytes.ts'
import { type Reader, walkTar } from './walk.ts'

/** Compressed bytes per call of zlib; they unpack to at most about 1,030 times as many. */
const STEP = 8 * 1024
const TRAILER = 8
/** An archive of at most this size is unpacked at once; no gzip header is longer. */
const SMALL = 64 * 1024
const SMALL_UNPACKED = 1024 * 1024
const FLAG = { checksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }

/** Walks a gzipped tar up to `unpackedBytes`; refuses data after its end, which Cargo ignores. */
export async function walkGzip(
  source: AsyncIterable<Uint8Array>,
  unpackedBytes: number,
  issues: Issue[],
  visit: Parameters<typeof walkTar>[2],
  reader: Reader = 'registry',
): Promise<void> {
  const bytes = new ByteReader(gunzip(source), unpackedBytes)
  try {
    const isEnd = await walkTar(bytes, issues, visit, reader)
    if (isEnd && reader === 'registry') await bytes.expectZeros()
  } finally {
    await bytes.close()
  }
}

/**
 * Unpacks one gzip member; memory use does not depend on its size. Refuses data that is not gzip,
 * incomplete or damaged, and anything after the member: Cargo reads one member, other tools read
 * all, and no two readers may see different archives.
 */
export async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  try {
    const parts: Uint8Array[] = []
    let isWhole = false
    for (let size = 0; size <= SMALL && !isWhole; ) {
      const { value, done } = await chunks.next()
      isWhole = done === true
      if (!done) {
        parts.push(value)
        size += value.length
      }
    }
    const beginning = Buffer.concat(parts)
    const body = beginning.subarray(headerLength(beginning, isWhole))
    const whole = isWhole ? unpackSmall(body) : null
    if (whole) yield whole
    else yield* unpack(inSteps(body, chunks))
  } finally {
    await chunks.return?.()
  }
}

/** Unpacks a small member without Node's thread pool; null if it is wrong, as `unpack` explains. */
function unpackSmall(body: Buffer): Buffer | null {
  const options = { maxOutputLength: SMALL_UNPACKED, info: true }
  try {
    // Node's types do not describe the result with `info`.
    const { buffer, engine } = inflateRawSync(body, options) as unknown as InflateResult
    const trailer = body.subarray(engine.bytesWritten)
    const isSound =
      trailer.length === TRAILER &&
      trailer.readUInt32LE(0) === crc32(buffer) &&
      trailer.readUInt32LE(4) === buffer.length
    return isSound ? buffer : null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

type InflateResult = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }

async function* unpack(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw()
  const out: Uint8Array[] = []
  let trailer = Buffer.alloc(0)
  const sum = { checksum: 0, size: 0 }
  inflate.on('data', (piece: Uint8Array) => out.push(piece))
  // Each step handles its own error, which zlib emits once more later.
  inflate.on('error', () => undefined)
  try {
    for await (const step of body) {
      trailer = Buffer.concat([trailer, await feed(inflate, step)])
      yield* drain(out, sum)
      if (trailer.length > TRAILER) refuse('archive_trailing_data')
    }
    if (!inflate.readableEnded) await work(inflate, done => inflate.end(done))
    yield* drain(out, sum)
  } finally {
    inflate.destroy()
  }
  if (trailer.length < TRAILER) refuse('archive_cut_off')
  if (trailer.readUInt32LE(0) !== sum.checksum || trailer.readUInt32LE(4) !== sum.size % 2 ** 32) {
    refuse('archive_damaged', { reason: 'its checksum does not fit its contents' })
  }
}

function* drain(out: Uint8Array[], sum: { checksum: number; size: number }): Generator<Uint8Array> {
  for (const piece of out.splice(0)) {
    sum.checksum = crc32(piece, sum.checksum)
    sum.size += piece.length
    yield piece
  }
}

/** Unpacks `step`; returns the bytes after the end of the member. */
async function feed(inflate: InflateRaw, step: Uint8Array): Promise<Uint8Array> {
  if (inflate.readableEnded) return step
  const before = inflate.bytesWritten
  await work(inflate, done => inflate.write(step, done))
  return step.subarray(inflate.bytesWritten - before)
}

/** Runs one call of zlib until it succeeds, reaches the end of the member, or fails. */
async function work(
  inflate: InflateRaw,
  call: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null): void => {
        inflate.off('end', done).off('error', done)
        if (error) reject(error)
        else resolve()
      }
      inflate.once('end', done).once('error', done)
      call(done)
    })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'Z_BUF_ERROR') refuse('archive_cut_off')
    if (error.code === 'Z_DATA_ERROR') refuse('archive_damaged', { reason: error.message })
    throw error
  }
}

async function* inSteps(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let chunk: Uint8Array | null = first; chunk; ) {
    for (let at = 0; at < chunk.length; at += STEP) yield chunk.subarray(at, at + STEP)
    const next = await rest.next()
    chunk = next.done ? null : next.value
  }
}

/** Returns the length of the gzip header (RFC 1952) at the start of an archive. */
function headerLength(head: Buffer, isWhole: boolean): number {
  if (head.length < 3 || head[0] !== 0x1f || head[1] !== 0x8b || head[2] !== 8)
    refuse('archive_not_gzip')
  // The name or comment of a larger one is longer than any real one.
  const cutOff = (): never => refuse(isWhole ? 'archive_cut_off' : 'archive_not_gzip')
  if (head.length < 10) cutOff()
  const flags = head[3] ?? 0
  if ((flags & FLAG.reserved) !== 0) refuse('archive_not_gzip')
  let at = 10
  if ((flags & FLAG.extra) !== 0) at += 2 + (head.length < 12 ? cutOff() : head.readUInt16LE(at))
  for (const flag of [FLAG.name, FLAG.comment]) {
    if ((flags & flag) === 0) continue
    const end = head.indexOf(0, at)
    at = end === -1 ? cutOff() : end + 1
  }
  if (at > SMALL) refuse('archive_not_gzip')
  const hasSum = (flags & FLAG.checksum) !== 0
  if (head.length < at + (hasSum ? 2 : 0)) cutOff()
  if (!hasSum) return at
  if (head.readUInt16LE(at) !== (crc32(head.subarray(0, at)) & 0xffff))
    refuse('archive_damaged', { reason: 'the checksum of its gzip header is wrong' })
  return at + 2
}
