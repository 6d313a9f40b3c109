import { randomUUID } from 'node:crypto'
import { existsSync, openAsBlob } from 'node:fs'
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A body on disk, in a file whose name is gone before its first byte where the system allows it. */
export class Spool {
  readonly #path = join(tmpdir(), `upload-${randomUUID()}`)
  #disk: FileHandle | undefined

  async fill(chunks: AsyncIterable<Uint8Array>): Promise<Blob> {
    this.#disk = await open(this.#path, 'wx+', 0o600)
    const nameless = `/proc/self/fd/${this.#disk.fd}`
    const isNameless = existsSync(nameless)
    if (isNameless) await rm(this.#path)
    await writeFile(this.#disk, chunks)
    return openAsBlob(isNameless ? nameless : this.#path)
  }

  async close(): Promise<void> {
    await this.#disk?.close()
    await rm(this.#path, { force: true })
  }
}
