import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The most bytes a file keeps in memory: 1 MiB. The byte after that moves it to disk. */
export const MEMORY_LIMIT = 1024 * 1024

/**
 * An uploaded file with one position for reading and writing, which starts at 0: in memory while it
 * is small, then on disk without a name, so none of its content outlives `close` or a crash.
 * Operations run in the order they were called, and fail after `close`.
 */
export class UploadFile {
  #memory: Buffer | undefined = Buffer.alloc(0)
  #disk: FileHandle | undefined
  #size = 0
  #position = 0
  #last: Promise<unknown> = Promise.resolve()
  /** What the client says: a name to show and never to open, and a media type if there is one. */
  readonly filename: string
  readonly content_type: string | null

  constructor(filename: string, content_type: string | null = null) {
    this.filename = filename
    this.content_type = content_type
  }

  /** Bytes written so far, gaps included. */
  get size(): number {
    return this.#size
  }

  get inMemory(): boolean {
    return this.#memory !== undefined
  }

  /** Writes all of `data` at the position, over what is there, and moves the position behind it. */
  write(data: Uint8Array): Promise<void> {
    return this.#turn(async () => {
      const [start, end] = [this.#position, this.#position + data.length]
      if (data.length === 0) return
      if (this.#memory && end > MEMORY_LIMIT) await this.#moveToDisk(this.#memory)
      // All the room there may be, with the first byte: small writes then copy nothing.
      if (this.#memory?.length === 0) this.#memory = Buffer.alloc(MEMORY_LIMIT)
      this.#memory?.set(data, start)
      for (let done = 0; this.#disk && done < data.length; ) {
        done += (await this.#disk.write(data, done, data.length - done, start + done)).bytesWritten
      }
      this.#position = end
      this.#size = Math.max(this.#size, end)
    })
  }

  /**
   * Reads from the position and moves it; empty at the end and beyond.
   * @param size at most so many bytes; absent or negative: all that is left, in one piece
   */
  read(size = -1): Promise<Buffer> {
    return this.#turn(async () => {
      const [start, left] = [this.#position, Math.max(0, this.#size - this.#position)]
      const bytes = Buffer.alloc(size < 0 ? left : Math.min(whole(size), left))
      if (bytes.length > 0) this.#memory?.copy(bytes, 0, start)
      for (let done = 0; this.#disk && done < bytes.length; ) {
        const length = Math.min(2 ** 30, bytes.length - done)
        done += (await this.#disk.read(bytes, done, length, start + done)).bytesRead
      }
      this.#position += bytes.length
      return bytes
    })
  }

  /** Moves the position to a byte, counted from 0; it may lie beyond the end. */
  seek(offset: number): Promise<void> {
    return this.#turn(async () => {
      this.#position = whole(offset)
    })
  }

  /** Frees memory and disk. A second call does nothing. */
  async close(): Promise<void> {
    await this.#last
    const disk = this.#disk
    this.#disk = this.#memory = undefined
    await disk?.close()
  }

  #turn<T>(operation: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (!this.#memory && !this.#disk) throw new Error('the file is closed')
      return operation()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #moveToDisk(content: Buffer): Promise<void> {
    const path = join(tmpdir(), `upload-${randomUUID()}`)
    this.#disk = await open(path, 'wx+', 0o600)
    await unlink(path)
    await this.#disk.writeFile(content.subarray(0, this.#size))
    this.#memory = undefined
  }
}

function whole(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new RangeError(`a size or an offset must be a whole number, not ${value}`)
}
