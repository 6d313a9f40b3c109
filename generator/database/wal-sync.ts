import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../places/disk/durable.ts'
import { openSqlite } from '../places/disk/sqlite-file.ts'

/**
 * Syncs SQLite's write-ahead log to disk. SQLite's own sync would block the event loop; this one
 * runs in the background, and all waiting commits share the next sync.
 */
export class WalSync {
  readonly #database: string
  #hasFailed = false
  #file: Promise<FileHandle> | null = null
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  /** `database`: the path of the database, which is in WAL mode and open until `close`. */
  constructor(database: string) {
    this.#database = database
  }

  /**
   * Empties a log that an earlier process has left: it may have failed to sync it just before its
   * end. What cannot be emptied, because the disk is full for example, is emptied before the next
   * sync; not while others use it, who know what failed.
   */
  begin(): void {
    try {
      this.#emptyLog()
    } catch {
      this.#hasFailed = true
    }
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
    const file = await this.#file
    if (this.#hasFailed && !this.#emptyLog())
      throw new Error('the write-ahead log failed to sync and is in use')
    this.#hasFailed = true
    await file.datasync()
    this.#hasFailed = false
  }

  /**
   * Copies the log into the database and empties it; returns false when others use it. After a
   * failed sync the system may drop what it could not write and report success from then on;
   * commits behind the gap would be lost.
   */
  #emptyLog(): boolean {
    const database = openSqlite(this.#database)
    try {
      const [row] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all() as { busy: number }[]
      // A full disk may leave no row.
      return row?.busy === 0
    } finally {
      database.close()
    }
  }

  /** SQLite keeps the file while the database is open; its name has to be synced, too. */
  async #open(): Promise<FileHandle> {
    await syncFolder(dirname(this.#database))
    return open(`${this.#database}-wal`, 'r+')
  }
}
