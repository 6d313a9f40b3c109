import { read, readSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
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

/** The chunk size: a few system calls for many bytes, which stay in the cache of the processor. */
const CHUNK_BYTES = 256 * 1024
/** The chunk size while more than `FEW` files are read: all of them together delay other answers. */
const SMALL_CHUNK_BYTES = 32 * 1024
const FEW = 16
/** A read that took longer has waited for the disk. */
const SLOW_MS = 2

let reading = 0
/** Chunks to be used again: new memory costs more than the bytes that go through it. */
const spare: Buffer[] = []
/** Files that were read to their end within a minute, which the system still has in memory. */
const warm = new LRUCache<string, true>({ max: 1000, ttl: 60_000 })

/** A part of a file that is open: whatever becomes of its name, the bytes are those of `stats`. */
export class OpenPart {
  readonly #handle: FileHandle
  readonly #part: FilePart

  private constructor(handle: FileHandle, part: FilePart) {
    this.#handle = handle
    this.#part = part
  }

  /** Opens the file of `stats`; returns null if another file has replaced it since. */
  static async open(part: FilePart): Promise<OpenPart | null> {
    const handle = await open(part.file)
    if (isSameFile(await handle.stat(), part.stats)) return new OpenPart(handle, part)
    await handle.close()
    return null
  }

  stream(): Readable {
    const { start, end } = this.#part
    const highWaterMark = chunkBytes()
    const stream = this.#handle.createReadStream({ start, end, highWaterMark })
    stream.once('close', () => reading--)
    return stream
  }

  /**
   * Sends the bytes, one chunk read while the one before is sent, ends `out` and closes the file.
   * Resolves, too, when the client leaves. If the file cannot be read, destroys `out` and throws.
   */
  async send(out: Writable): Promise<void> {
    const size = chunkBytes()
    try {
      await pump(new Source(this.#handle.fd, this.#part), out, size)
    } catch (error) {
      out.destroy()
      throw error
    } finally {
      reading--
      await this.#handle.close()
    }
  }
}

function chunkBytes(): number {
  return ++reading > FEW ? SMALL_CHUNK_BYTES : CHUNK_BYTES
}

/** Sends chunks until the source has no more or the client leaves. */
async function pump(source: Source, out: Writable, size: number): Promise<void> {
  if (out.destroyed) return
  const left = new Promise<boolean>(resolve => out.once('close', () => resolve(false)))
  const chunks = [take(size), take(size)] as const
  let sent = Promise.resolve(true)
  for (let turn = 0; !source.isAtEnd; turn++) {
    const bytes = await source.next(chunks[turn % 2 === 0 ? 0 : 1])
    // Before, the other chunk belongs to the connection.
    if (!(await sent)) return
    const written = new Promise<boolean>(resolve => {
      if (source.isAtEnd) out.end(bytes, () => resolve(true))
      else out.write(bytes, error => resolve(!error))
    })
    sent = Promise.race([written, left])
  }
  // A connection that was cut may hold its chunks for a while.
  if ((await sent) && size === CHUNK_BYTES && spare.length < 2 * FEW) spare.push(...chunks)
}

/**
 * Reads a part chunk by chunk: in Node's thread pool, because a slow disk must not block the event
 * loop; or at once, which saves a third of the time, if the file was read lately.
 */
class Source {
  readonly #file: number
  readonly #key: string
  readonly #end: number
  readonly #isWhole: boolean
  #at: number

  constructor(file: number, { file: path, stats, start, end }: FilePart) {
    this.#file = file
    this.#key = `${stats.ino} ${path}`
    this.#at = start
    this.#end = end
    this.#isWhole = end - start + 1 === stats.size
  }

  get isAtEnd(): boolean {
    return this.#at > this.#end
  }

  /** Fills a chunk as far as there are bytes; throws when the file has become shorter. */
  async next(chunk: Buffer): Promise<Buffer> {
    const length = Math.min(chunk.byteLength, this.#end - this.#at + 1)
    const bytes = await (warm.has(this.#key)
      ? this.#atOnce(chunk, length)
      : this.#later(chunk, length))
    if (bytes === 0) throw new Error('a file has become shorter while it was sent')
    this.#at += bytes
    if (this.isAtEnd && this.#isWhole) warm.set(this.#key, true)
    return chunk.subarray(0, bytes)
  }

  async #atOnce(chunk: Buffer, length: number): Promise<number> {
    // A fast client would otherwise keep all others from their answers.
    await setImmediate()
    const start = performance.now()
    const bytes = readSync(this.#file, chunk, 0, length, this.#at)
    if (performance.now() - start > SLOW_MS) warm.delete(this.#key)
    return bytes
  }

  #later(chunk: Buffer, length: number): Promise<number> {
    return new Promise((resolve, reject) => {
      read(this.#file, chunk, 0, length, this.#at, (error, bytes) => {
        if (error) reject(error)
        else resolve(bytes)
      })
    })
  }
}

function take(size: number): Buffer {
  return (size === CHUNK_BYTES && spare.pop()) || Buffer.allocUnsafeSlow(size)
}
