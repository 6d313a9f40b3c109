import type { Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { isSameFile } from './file-cache.ts'

/** Bytes to read while they are sent, from `start` to `end` inclusive. */
export interface Part {
  readonly start: number
  readonly end: number
}

export interface FilePart extends Part {
  readonly file: string
  readonly stats: Stats
}

/** The chunk size, and while more than `FEW` files are sent: slow clients keep a chunk each. */
const CHUNK_BYTES = 256 * 1024
const SMALL_CHUNK_BYTES = 32 * 1024
const FEW = 16

let sending = 0

/** Opens the file of `stats`, whatever becomes of its name; null if another has replaced it. */
export async function openPart(part: FilePart) {
  const handle = await open(part.file)
  if (!isSameFile(await handle.stat(), part.stats)) {
    await handle.close()
    return null
  }
  const close = async () => {
    sending--
    await handle.close()
  }
  return {
    stream: () => {
      const size = chunkBytes()
      const chunks = chunksOf(handle, part, () => Buffer.allocUnsafeSlow(size))
      // A file that was only read loses nothing when it fails to close.
      return Readable.from(chunks).once('close', () => void close().catch(() => undefined))
    },
    /**
     * Sends the bytes, ends `out` and closes the file. Resolves, too, when the client leaves. If
     * the file cannot be read, destroys `out` and throws.
     */
    send: async (out: Writable) => {
      const memory = Buffer.allocUnsafeSlow(chunkBytes())
      const chunks = chunksOf(handle, part, () => memory)
      await send(chunks, out).finally(close)
    },
  }
}

async function send(chunks: AsyncIterable<Buffer>, out: Writable): Promise<void> {
  const left = new Promise<boolean>(resolve => out.once('close', () => resolve(false)))
  try {
    if (out.destroyed) return
    for await (const bytes of chunks) {
      const written = new Promise<boolean>(resolve => out.write(bytes, error => resolve(!error)))
      // The connection has the memory until then.
      if (!(await Promise.race([written, left]))) return
    }
    out.end()
  } catch (error) {
    out.destroy()
    throw error
  }
}

/** Reads chunk by chunk into memory of `take`; throws when the file has become shorter. */
async function* chunksOf(
  handle: FileHandle,
  { start, end }: Part,
  take: () => Buffer,
): AsyncGenerator<Buffer> {
  for (let at = start; at <= end; ) {
    const memory = take()
    const length = Math.min(memory.byteLength, end - at + 1)
    const { bytesRead } = await handle.read(memory, 0, length, at)
    if (bytesRead === 0) throw new Error('a file has become shorter while it was sent')
    at += bytesRead
    yield memory.subarray(0, bytesRead)
  }
}

function chunkBytes(): number {
  return ++sending > FEW ? SMALL_CHUNK_BYTES : CHUNK_BYTES
}
