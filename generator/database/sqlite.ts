import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type Libsql from 'libsql'
import { LRUCache } from 'lru-cache'
import { Mutex } from '../../core/async/mutex.ts'
import { damage } from '../places/disk/damage.ts'
import { syncFolder } from '../places/disk/durable.ts'
import { storageRefusal, unknownOutcome } from '../places/disk/fault.ts'
import { openSqlite } from '../places/disk/sqlite-file.ts'
import type { Database } from './connection.ts'
import { paced } from './pace.ts'
import { inTransaction, type Queries, type Result } from './statement.ts'

/** How many milliseconds a statement waits for another process's transaction. */
const LOCK_TIMEOUT_MS = 10_000

const MAX_STATEMENTS = 500

const READS = /^\s*select\b/i
/** Matches statements that are kept prepared; others, such as schema changes, are rare. */
const KEPT = /^\s*(?:select|insert|update|delete|with|savepoint|release|rollback)\b/i
/** Matches statements that are about the writer itself or cannot run in a transaction. */
const STANDS_ALONE = /^\s*(?:pragma|vacuum)\b/i

/**
 * SQLite by libsql, for a file in WAL mode, opened twice: readers never wait for a writer. Every
 * change is in a transaction: a prepared statement that finds the file busy stays open in libsql
 * until it is collected, and until then SQLite commits nothing.
 */
export class SqliteDatabase implements Database {
  readonly engine = 'SQLite'
  readonly #writer: Handle
  readonly #reader: Handle
  readonly #wal: WalSync | null
  readonly #path: string
  /** Held by the work that uses the writer until its transaction ends. */
  readonly #mutex = new Mutex()
  #closing: Promise<void> | null = null

  /** `wal` makes a commit durable; null when SQLite does so itself. `path` is that of the file. */
  constructor(
    path: string,
    writer: Libsql.Database,
    reader: Libsql.Database,
    wal: WalSync | null = null,
  ) {
    this.#path = path
    this.#writer = new Handle(writer)
    this.#reader = new Handle(reader)
    this.#wal = wal
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<Result> {
    if (READS.test(sql)) return this.#locked(() => this.#reader.query(sql, parameters))
    if (!STANDS_ALONE.test(sql)) return this.#commit(() => this.#write(sql, parameters))
    const work = () => this.#writer.query(sql, parameters)
    return this.#mutex.run(() => this.#locked(work))
  }

  transaction<T>(work: (tx: Queries) => Promise<T>, sync: 'now' | 'later' = 'now'): Promise<T> {
    const { engine } = this
    const execute: Queries['execute'] = (sql, parameters) => this.#write(sql, parameters)
    return this.#commit(() => inTransaction({ engine, execute }, work), sync)
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#wal?.close()
      this.#reader.close()
      this.#writer.close()
    })()
    return this.#closing
  }

  /** Does work in a transaction. Others may write as soon as it is committed, before the sync. */
  async #commit<T>(work: () => Promise<T>, sync: 'now' | 'later' = 'now'): Promise<T> {
    const writer = this.#writer.database
    const result = await this.#mutex.run(async () => {
      // Takes the write lock at once: a deferred transaction can fail later, at its first write.
      await this.#locked(() => writer.exec('begin immediate'))
      try {
        const result = await work()
        writer.exec('commit')
        return result
      } catch (error) {
        // A full disk makes SQLite roll back by itself; a rollback would then hide that error.
        if (writer.inTransaction) writer.exec('rollback')
        throw await this.#explain(error)
      }
    })
    if (sync === 'now')
      await this.#wal?.sync().catch(error => {
        throw unknownOutcome('the disk failed to sync it', error)
      })
    return result
  }

  /** SQLite answers within the call: statements alone would keep the event loop from others. */
  async #write(sql: string, parameters: readonly unknown[]): Promise<Result> {
    try {
      return await paced(() => this.#writer.query(sql, parameters))
    } catch (error) {
      throw await this.#explain(error)
    }
  }

  /** Retries while another process has the lock: to wait in SQLite would block every request. */
  async #locked<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + LOCK_TIMEOUT_MS
    for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
      try {
        return await paced(work)
      } catch (error) {
        if ((error as { code?: string }).code !== 'SQLITE_BUSY' || performance.now() > deadline)
          throw await this.#explain(error)
        await sleep(pause)
      }
    }
  }

  /** Returns what an error means: a disk that takes no writes, damage, or what it says. */
  async #explain(error: unknown): Promise<unknown> {
    return storageRefusal(error) ?? (await damage.explain(this.#path, error))
  }
}

/** A prepared statement; libsql takes longer to tell whether it returns rows than many take to run. */
interface Prepared {
  readonly statement: Libsql.Statement
  readonly returnsRows: boolean
}

class Handle {
  readonly database: Libsql.Database
  readonly #statements = new LRUCache<string, Prepared>({ max: MAX_STATEMENTS })

  constructor(database: Libsql.Database) {
    this.database = database
  }

  /** Runs a statement to its end: an unfinished one would keep its snapshot and its lock. */
  query(sql: string, parameters: readonly unknown[]): Result {
    const { statement, returnsRows } = this.#statements.get(sql) ?? this.#prepare(sql)
    try {
      if (returnsRows) return { rows: statement.all(parameters), changes: 0 }
      return { rows: [], changes: statement.run(parameters).changes }
    } catch (error) {
      this.#statements.delete(sql)
      throw error
    }
  }

  close(): void {
    this.#statements.clear()
    this.database.close()
  }

  #prepare(sql: string): Prepared {
    const statement = this.database.prepare(sql)
    const prepared = { statement, returnsRows: statement.reader }
    if (KEPT.test(sql)) this.#statements.set(sql, prepared)
    return prepared
  }
}

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
