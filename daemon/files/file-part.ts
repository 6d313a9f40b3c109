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
    const size = chunkBytes()
    const chunks = this.#chunks(() => Buffer.allocUnsafeSlow(size))
    return Readable.from(chunks).once('close', () => void this.#close())
  }

  /** Sends the bytes and ends `out`, or destroys it and throws; the client may leave. */
  async send(out: Writable): Promise<void> {
    const left = new Promise<boolean>(resolve => out.once('close', () => resolve(false)))
    const memory = Buffer.allocUnsafeSlow(chunkBytes())
    try {
      if (out.destroyed) return
      for await (const bytes of this.#chunks(() => memory)) {
        const written = new Promise<boolean>(resolve => out.write(bytes, error => resolve(!error)))
        // The connection has the memory until then.
        if (!(await Promise.race([written, left]))) return
      }
      out.end()
    } catch (error) {
      out.destroy()
      throw error
    } finally {
      await this.#close()
    }
  }

  async #close(): Promise<void> {
    sending--
    await this.#handle.close()
  }

  /** Reads chunk by chunk into memory of `take`; throws when the file has become shorter. */
  async *#chunks(take: () => Buffer): AsyncGenerator<Buffer> {
    const { start, end } = this.#part
    for (let at = start; at <= end; ) {
      const memory = take()
      const length = Math.min(memory.byteLength, end - at + 1)
      const { bytesRead } = await this.#handle.read(memory, 0, length, at)
      if (bytesRead === 0) throw new Error('a file has become shorter while it was sent')
      at += bytesRead
      yield memory.subarray(0, bytesRead)
    }
  }
}

function chunkBytes(): number {
  return ++sending > FEW ? SMALL_CHUNK_BYTES : CHUNK_BYTES
}
