import { randomUUID } from 'node:crypto'
import { close, openSync, read, unlinkSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The most bytes a file keeps in memory: 1 MiB. The byte after that moves it to disk. */
export const MEMORY_LIMIT = 1024 * 1024
const [readAt, writeAt, closeDisk] = [promisify(read), promisify(write), promisify(close)]

/**
 * An uploaded file with one position for reading and writing: in memory while it is small, then on
 * disk without a name, so nothing remains of it after `close`, nor after a crash. Operations run
 * in the order they were called, and fail after `close`. It starts at 0.
 */
export class UploadFile {
  #memory: Buffer | undefined = Buffer.alloc(0)
  #disk = -1
  #size = 0
  #position = 0
  #isClosed = false
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
      if (this.#memory) this.#memory.set(data, start)
      else await this.#writeToDisk(data, start)
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
      const left = Math.max(0, this.#size - this.#position)
      const bytes = Buffer.alloc(size < 0 ? left : Math.min(whole(size), left))
      const start = this.#position
      if (bytes.length > 0) this.#memory?.copy(bytes, 0, start)
      for (let done = 0; !this.#memory && done < bytes.length; ) {
        const length = Math.min(2 ** 30, bytes.length - done)
        done += (await readAt(this.#disk, bytes, done, length, start + done)).bytesRead
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
  close(): Promise<void> {
    const closing = this.#last.then(async () => {
      const disk = this.#disk
      this.#disk = -1
      this.#isClosed = true
      this.#memory = undefined
      if (disk !== -1) await closeDisk(disk)
    })
    this.#last = closing.catch(() => undefined)
    return closing
  }

  #turn<T>(operation: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#isClosed) throw new Error('the file is closed')
      return operation()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Between the two system calls no other code runs, so no failure can leave the name behind. */
  async #moveToDisk(content: Buffer): Promise<void> {
    const path = join(tmpdir(), `upload-${randomUUID()}`)
    this.#disk = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    await this.#writeToDisk(content.subarray(0, this.#size), 0)
    this.#memory = undefined
  }

  async #writeToDisk(data: Uint8Array, start: number): Promise<void> {
    for (let done = 0; done < data.length; ) {
      const length = data.length - done
      done += (await writeAt(this.#disk, data, done, length, start + done)).bytesWritten
    }
  }
}

function whole(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new RangeError(`a size or an offset must be a whole number, not ${value}`)
}
