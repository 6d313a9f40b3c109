import { randomUUID } from 'node:crypto'
import { existsSync, openAsBlob } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file for the uploads of one form. Its name is gone before its first byte, if /proc has it. */
export class Spool {
  size = 0
  readonly #path = join(tmpdir(), `upload-${randomUUID()}`)
  #disk: FileHandle | undefined

  /** Appends bytes, which are written as a character each. */
  async write(bytes: string): Promise<void> {
    if (!this.#disk) {
      this.#disk = await open(this.#path, 'wx+', 0o600)
      if (this.#place !== this.#path) await rm(this.#path)
    }
    await this.#disk.writeFile(bytes, 'latin1')
    this.size += bytes.length
  }

  /** All that was written; nothing may be written after it. */
  read = () => (this.#disk ? openAsBlob(this.#place) : new Blob([]))

  async close(): Promise<void> {
    await this.#disk?.close()
    await rm(this.#path, { force: true })
  }

  get #place() {
    const nameless = `/proc/self/fd/${this.#disk?.fd}`
    return existsSync(nameless) ? nameless : this.#path
  }
}
