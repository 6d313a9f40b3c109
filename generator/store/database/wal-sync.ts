import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../durable-file.ts'

/**
 * Syncs SQLite's write-ahead log to disk. SQLite's own sync would block the event loop; this one
 * runs in the background, and all waiting commits share the next sync.
 */
export class WalSync {
  readonly #path: string
  #file: Promise<FileHandle> | null = null
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  /** `database`: the path of the database, which is in WAL mode and open until `close`. */
  constructor(database: string) {
    this.#path = `${database}-wal`
  }

  /** Resolves when everything that was committed before the call is on disk. */
  sync(): Promise<void> {
    this.#next ??= this.#flush(this.#running)
    return this.#next
  }

  /** Closes the log. SQLite's locks are on other files, so this does not drop them. */
  async close(): Promise<void> {
    await this.#next
    await (await this.#file)?.close()
    this.#file = null
  }

  async #flush(before: Promise<void>): Promise<void> {
    await before
    const flush = this.#sync()
    this.#running = flush.catch(() => undefined)
    this.#next = null
    await flush
  }

  async #sync(): Promise<void> {
    this.#file ??= this.#open().catch(error => {
      this.#file = null
      throw error
    })
    await (await this.#file).datasync()
  }

  /** SQLite keeps the file while the database is open; its name has to be synced, too. */
  async #open(): Promise<FileHandle> {
    await syncFolder(dirname(this.#path))
    return open(this.#path, 'r+')
  }
}
