import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * An uploaded file with one position for reading and writing, which starts at 0. Its bytes are on
 * disk in a file without a name, so none of them outlives `close` or a crash.
 * Operations run in the order they were called, and fail after `close`.
 */
export class UploadFile {
  readonly #disk: FileHandle
  #position = 0
  #last: Promise<unknown> = Promise.resolve()
  /** What the client says: a name to show and never to open, and a media type if there is one. */
  readonly filename: string
  readonly content_type: string | null
  /** Bytes written so far, gaps included. */
  size = 0

  constructor(disk: FileHandle, filename: string, content_type: string | null) {
    this.#disk = disk
    this.filename = filename
    this.content_type = content_type
  }

  /** Makes an empty one. */
  static async create(filename: string, content_type: string | null = null): Promise<UploadFile> {
    const path = join(tmpdir(), `upload-${randomUUID()}`)
    const disk = await open(path, 'wx+', 0o600)
    await unlink(path)
    return new UploadFile(disk, filename, content_type)
  }

  /** Writes all of `data` at the position, over what is there, and moves the position behind it. */
  write(data: Uint8Array): Promise<void> {
    return this.#turn(async () => {
      for (let done = 0; done < data.length; ) {
        const left = data.length - done
        const { bytesWritten } = await this.#disk.write(data, done, left, this.#position)
        done += bytesWritten
        this.#position += bytesWritten
        this.size = Math.max(this.size, this.#position)
      }
    })
  }

  /** Reads at most `size` bytes, by default all that is left, and moves the position on. */
  read(size = -1): Promise<Buffer> {
    return this.#turn(async () => {
      const most = Math.max(0, this.size - this.#position)
      const bytes = Buffer.alloc(size < 0 ? most : Math.min(whole(size), most))
      for (let done = 0; done < bytes.length; ) {
        const left = bytes.length - done
        const { bytesRead } = await this.#disk.read(bytes, done, left, this.#position)
        done += bytesRead
        this.#position += bytesRead
      }
      return bytes
    })
  }

  /** Moves the position to a byte, counted from 0; it may lie beyond the end. */
  seek(offset: number): Promise<void> {
    return this.#turn(async () => {
      this.#position = whole(offset)
    })
  }

  /** Frees the disk. A second call does nothing. */
  async close(): Promise<void> {
    await this.#last
    await this.#disk.close()
  }

  #turn<T>(operation: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#disk.fd === -1) throw new Error('the file is closed')
      return operation()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

function whole(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new RangeError(`a size or an offset must be a whole number, not ${value}`)
}
