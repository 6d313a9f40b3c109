import { randomUUID } from 'node:crypto'
import { close, openSync, read, unlinkSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The most bytes a file keeps in memory: 1 MiB. The byte after that moves it to disk. */
export const MEMORY_LIMIT = 1024 * 1024

const [readAt, writeAt, closeDescriptor] = [promisify(read), promisify(write), promisify(close)]
/** The most bytes that one system call is asked for. */
const CALL_LIMIT = 2 ** 30

/**
 * A temporary file with one position for reading and writing: in memory while it is small, then on disk. On disk it has
 * no name (it is unlinked as soon as it is open), so nothing remains of it after `close`, nor after a crash.
 * Operations run one after another in the order they were called. All but `close` fail after `close`.
 */
export class SpooledFile {
  #memory: Buffer | undefined = Buffer.alloc(0)
  #descriptor: number | undefined
  #size = 0
  #position = 0
  #closed = false
  #last: Promise<unknown> = Promise.resolve()

  /** Bytes written so far, gaps included. */
  get size(): number {
    return this.#size
  }

  /** Whether the content is still in memory. */
  get inMemory(): boolean {
    return this.#memory !== undefined
  }

  /** Writes all of `data` at the position, over what is there, and moves the position behind it. */
  write(data: Uint8Array): Promise<void> {
    return this.#turn(async () => {
      const end = this.#position + data.length
      if (data.length === 0) return
      if (this.#memory && end > MEMORY_LIMIT) await this.#moveToDisk(this.#memory)
      if (this.#memory) this.#memory = placed(this.#memory, data, this.#position, this.#size)
      else await this.#writeToDisk(data, this.#position)
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
      const length = size < 0 ? left : Math.min(wholeNumber(size, 'size'), left)
      const start = this.#position
      const bytes = this.#memory
        ? Buffer.from(this.#memory.subarray(start, start + length))
        : await this.#readFromDisk(length, start)
      this.#position += bytes.length
      return bytes
    })
  }

  /** Moves the position to a byte, counted from 0; it may lie beyond the end. */
  seek(offset: number): Promise<void> {
    return this.#turn(async () => {
      this.#position = wholeNumber(offset, 'offset')
    })
  }

  /** Frees memory and disk. A second call does nothing. */
  close(): Promise<void> {
    const closing = this.#last.then(async () => {
      this.#closed = true
      this.#memory = undefined
      const descriptor = this.#descriptor
      this.#descriptor = undefined
      if (descriptor !== undefined) await closeDescriptor(descriptor)
    })
    this.#last = closing.catch(() => undefined)
    return closing
  }

  #turn<T>(operation: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#closed) throw new Error('the file is closed')
      return operation()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Between these two system calls no other code of the process runs, so no failure can leave the name behind. */
  async #moveToDisk(content: Buffer): Promise<void> {
    const path = join(tmpdir(), `upload-${randomUUID()}`)
    this.#descriptor = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    await this.#writeToDisk(content.subarray(0, this.#size), 0)
    this.#memory = undefined
  }

  async #writeToDisk(data: Uint8Array, position: number): Promise<void> {
    const descriptor = this.#onDisk()
    for (let done = 0; done < data.length; ) {
      const { bytesWritten } = await writeAt(descriptor, data, done, data.length - done, position + done)
      done += bytesWritten
    }
  }

  async #readFromDisk(length: number, position: number): Promise<Buffer> {
    const descriptor = this.#onDisk()
    const bytes = Buffer.alloc(length)
    for (let done = 0; done < length; ) {
      const wanted = Math.min(CALL_LIMIT, length - done)
      const { bytesRead } = await readAt(descriptor, bytes, done, wanted, position + done)
      if (bytesRead === 0) return bytes.subarray(0, done)
      done += bytesRead
    }
    return bytes
  }

  #onDisk(): number {
    if (this.#descriptor === undefined) throw new Error('the file is neither in memory nor on disk')
    return this.#descriptor
  }
}

/** `memory` with `data` at a position; room grows by doubling, gaps are zeros. */
function placed(memory: Buffer, data: Uint8Array, position: number, size: number): Buffer {
  const end = position + data.length
  let room = memory
  if (end > memory.length) {
    room = Buffer.alloc(Math.min(MEMORY_LIMIT, Math.max(end, memory.length * 2)))
    memory.copy(room, 0, 0, size)
  }
  room.set(data, position)
  return room
}

function wholeNumber(value: number, what: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${what} must be a whole number, not ${value}`)
  return value
}
