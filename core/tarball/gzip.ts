import type { InflateRaw } from 'node:zlib'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { refuse } from '../error/error.ts'

/** Compressed bytes per call of zlib; they unpack to at most about 1,030 times as many. */
const STEP = 8 * 1024
const TRAILER = 8
/** An archive of at most this size, packed and unpacked, is unpacked at once. */
const SMALL = 64 * 1024
const SMALL_UNPACKED = 1024 * 1024
/** Maximum length of a gzip header, with its optional file name and comment. */
const HEADER_MAX = 64 * 1024
const FLAG = { checksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }

/**
 * Unpacks one gzip member; memory use does not depend on its size. Refuses data that is not gzip,
 * incomplete or damaged, and anything after the member: Cargo reads one member, other tools read
 * all, and no two readers may see different archives.
 */
export async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { beginning, rest } = await begin(source)
  const whole = rest ? null : unpackSmall(beginning)
  if (whole) {
    yield whole
    return
  }
  const input = inSteps(rest ? joined(beginning, rest) : [beginning])
  try {
    yield* unpack(withoutHeader(input))
  } finally {
    await input.return(undefined)
  }
}

/** Reads up to `SMALL` bytes; `rest` is the remaining source, or null at its end. */
async function begin(source: AsyncIterable<Uint8Array>) {
  const chunks = source[Symbol.asyncIterator]()
  const beginning: Uint8Array[] = []
  for (let size = 0; size <= SMALL; ) {
    const next = await chunks.next()
    if (next.done) return { beginning: Buffer.concat(beginning), rest: null }
    beginning.push(next.value)
    size += next.value.length
  }
  return { beginning: Buffer.concat(beginning), rest: chunks }
}

async function* joined(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield first
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/**
 * Unpacks a whole archive in one call, without Node's thread pool; null if it is too large or wrong
 * in any way, which `unpack` then explains.
 */
function unpackSmall(archive: Buffer): Buffer | null {
  if (archive.length < 3 || archive[0] !== 0x1f || archive[1] !== 0x8b || archive[2] !== 8)
    return null
  const start = headerLength(archive)
  if (start === null) return null
  const body = archive.subarray(start)
  const unpacked = inflateOnce(body)
  if (!unpacked) return null
  const trailer = body.subarray(unpacked.engine.bytesWritten)
  const isSound =
    trailer.length === TRAILER &&
    trailer.readUInt32LE(0) === crc32(unpacked.buffer) &&
    trailer.readUInt32LE(4) === unpacked.buffer.length
  return isSound ? unpacked.buffer : null
}

/** The result of `inflateRawSync` with `info`, which Node's types do not describe. */
interface InflateResult {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function inflateOnce(body: Uint8Array): InflateResult | null {
  const options = { maxOutputLength: SMALL_UNPACKED, info: true }
  try {
    return inflateRawSync(body, options) as unknown as InflateResult
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

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
      if (trailer.length > TRAILER) refuse('archive_trailing_data')
      yield* drain(out, sum)
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
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += STEP) yield chunk.subarray(at, at + STEP)
  }
}

/** Yields the bytes after the gzip header (RFC 1952). */
async function* withoutHeader(input: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0)
  let length: number | null = null
  while (length === null) {
    const next = await input.next()
    if (next.done) refuse(head.length < 3 ? 'archive_not_gzip' : 'archive_cut_off')
    head = Buffer.concat([head, next.value])
    if (head.length >= 3 && (head[0] !== 0x1f || head[1] !== 0x8b || head[2] !== 8))
      refuse('archive_not_gzip')
    length = headerLength(head)
    if (length === null && head.length > HEADER_MAX) refuse('archive_not_gzip')
  }
  if (head.length > length) yield head.subarray(length)
  yield* input
}

/** Returns the length of the header at the start of `head`; null if it is incomplete. */
function headerLength(head: Buffer): number | null {
  if (head.length < 10) return null
  const flags = head[3] ?? 0
  if ((flags & FLAG.reserved) !== 0) refuse('archive_not_gzip')
  let at = 10
  if ((flags & FLAG.extra) !== 0) {
    if (head.length < at + 2) return null
    at += 2 + head.readUInt16LE(at)
  }
  for (const flag of [FLAG.name, FLAG.comment]) {
    if ((flags & flag) === 0) continue
    const end = head.indexOf(0, at)
    if (end === -1) return null
    at = end + 1
  }
  if (at > HEADER_MAX) refuse('archive_not_gzip')
  if ((flags & FLAG.checksum) === 0) return at <= head.length ? at : null
  if (head.length < at + 2) return null
  if (head.readUInt16LE(at) !== (crc32(head.subarray(0, at)) & 0xffff))
    refuse('archive_damaged', { reason: 'the checksum of its gzip header is wrong' })
  return at + 2
}
