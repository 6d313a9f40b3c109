import { createHash, type Hash } from 'node:crypto'
import type { ReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { refuse } from '../../core/error/error.ts'
import { asCaller } from '../places/disk/caller.ts'
import { openFile } from '../places/disk/files.ts'

/** Longer lines are not read: they cannot be requests for crates. */
export const LINE_MAX = 64 * 1024

/** A line that has no end for so long is of no log, as in a file of zeros. */
const ENDLESS = 64 * 1024 ** 2

/** How much a packed log may unpack to: some, and so many times what was read of it. */
const UNPACKED_MIN = 16 * 1024 ** 2
const UNPACKED_TIMES = 200

/** Some lines of a log, in order. */
export interface LineBatch {
  /** Null for a line that is longer than `LINE_MAX`. */
  readonly lines: readonly (string | null)[]
  /** The number of unpacked bytes read, to the end of the last line. */
  readonly bytes: number
  readonly sum: () => string
  /** Whether a last line without an end was left out, because it may be incomplete. */
  readonly isUnfinished: boolean
}

/** Returns the content of a log; unpacks a file that begins like gzip, but no bomb. */
async function contentOf(path: string): Promise<AsyncIterable<Buffer>> {
  // First: a stream of a file that cannot be opened would fail before anybody listens.
  const isPacked = await isZipped(path)
  const raw = await open(path)
  if (!isPacked) return raw
  // Closes the file also for a reader that stops early; the reader is told of errors.
  return unpacked(
    path,
    raw,
    pipeline(raw, createGunzip({ chunkSize: 256 * 1024 }), () => {}),
  )
}

async function* unpacked(path: string, raw: ReadStream, content: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.byteLength
    if (bytes > UNPACKED_MIN + UNPACKED_TIMES * raw.bytesRead)
      refuse('log_bomb', { path, times: UNPACKED_TIMES })
    yield chunk
  }
}

async function isZipped(path: string): Promise<boolean> {
  const start = await buffer(await open(path, { start: 0, end: 1 }))
  return start.byteLength === 2 && start[0] === 0x1f && start[1] === 0x8b
}

async function open(path: string, range?: { start: number; end: number }) {
  const file = await asCaller(() => openFile(path, range))
  return file?.bytes ?? refuse('file_missing', { path })
}

/** Returns the lines at the beginning of a log, at most `LINE_MAX` bytes. */
export async function headOf(path: string): Promise<string[]> {
  let head = Buffer.alloc(0)
  for await (const chunk of await contentOf(path)) {
    head = Buffer.concat([head, chunk])
    if (head.byteLength >= LINE_MAX) break
  }
  return head.subarray(0, LINE_MAX).toString('latin1').split('\n')
}

/** Returns the checksums of the first bytes of a log, by their number; none beyond its end. */
export async function sumsOf(
  path: string,
  lengths: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const sums = new Map<number, string>()
  const waiting = lengths.toSorted((a, b) => a - b)
  const hash = createHash('sha256')
  let at = 0
  for await (const chunk of await contentOf(path)) {
    let start = 0
    for (const length of waiting.filter(length => length <= at + chunk.byteLength)) {
      hash.update(chunk.subarray(start, length - at))
      start = length - at
      sums.set(length, sumOf(hash))
      waiting.shift()
    }
    if (waiting.length === 0) break
    hash.update(chunk.subarray(start))
    at += chunk.byteLength
  }
  return sums
}

/** Shortened: nobody forges logs to collide. */
function sumOf(hash: Hash): string {
  return hash.copy().digest('hex').slice(0, 32)
}

/**
 * Yields the lines of a log after its first `from` bytes, some at a time. A last line without a
 * line end is left out, unless the file is packed and will not grow.
 */
export async function* linesOf(path: string, from: number): AsyncGenerator<LineBatch> {
  const hash = createHash('sha256')
  let [skip, bytes] = [from, 0]
  let rest: Buffer = Buffer.alloc(0)
  /** The bytes of a line that is too long before those in `rest`. */
  let long = 0
  const batch = (text: Buffer, isUnfinished = false): LineBatch => {
    hash.update(text)
    bytes += text.byteLength
    const texts = text.toString('latin1').split('\n')
    if (texts.at(-1) === '') texts.pop()
    const lines = texts.map((line, at) =>
      (long > 0 && at === 0) || line.length > LINE_MAX ? null : line,
    )
    long = 0
    return { lines, bytes, sum: () => sumOf(hash), isUnfinished }
  }
  for await (const chunk of await contentOf(path)) {
    const skipped = Math.min(skip, chunk.byteLength)
    hash.update(chunk.subarray(0, skipped))
    skip -= skipped
    bytes += skipped
    const end = chunk.lastIndexOf(10) + 1
    if (end <= skipped) {
      rest = Buffer.concat([rest, chunk.subarray(skipped)])
      if (rest.byteLength <= LINE_MAX) continue
      long += rest.byteLength
      if (long > ENDLESS) refuse('log_endless', { path, max: ENDLESS })
      hash.update(rest)
      bytes += rest.byteLength
      rest = Buffer.alloc(0)
      continue
    }
    yield batch(Buffer.concat([rest, chunk.subarray(skipped, end)]))
    rest = chunk.subarray(end)
  }
  const isLast = rest.byteLength > 0 && (await isZipped(path))
  yield batch(isLast ? rest : Buffer.alloc(0), rest.byteLength > 0 && !isLast)
}
