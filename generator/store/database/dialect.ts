import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely'
import type Libsql from 'libsql'
import { writing } from '../storage-fault.ts'

/** How long a statement waits for another process to finish its transaction. */
const PATIENCE = 10_000

/** By the text, because SQL written by hand has nothing else. */
const READS = /^\s*select\b/i
/** Concerns the writer itself, or cannot run in a transaction. */
const STANDS_ALONE = /^\s*(?:pragma|vacuum)\b/i

/** One file, opened twice: readers never wait for a change, of this process or of another. */
export interface Handles {
  readonly writer: Libsql.Database
  readonly reader: Libsql.Database
}

/**
 * kysely over libsql, which speaks better-sqlite3's interface, for a file in WAL mode that several
 * processes use.
 */
export class LibsqlDialect extends SqliteDialect {
  readonly #handles: Handles

  constructor(handles: Handles) {
    super({ database: handles.writer as SqliteDatabase })
    this.#handles = handles
  }

  override createDriver(): Driver {
    return new LibsqlDriver(this.#handles)
  }

  override createAdapter(): SqliteAdapter {
    return new LibsqlAdapter()
  }
}

/**
 * All steps of a migration are one transaction: two processes never migrate at once, and none stops
 * half-way.
 */
class LibsqlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class LibsqlDriver implements Driver {
  readonly #handle: Libsql.Database
  readonly #writer: SqliteDriver
  readonly #reader: SqliteDriver

  constructor({ writer, reader }: Handles) {
    this.#handle = writer
    this.#writer = new SqliteDriver({ database: writer as SqliteDatabase })
    this.#reader = new SqliteDriver({ database: reader as SqliteDatabase })
  }

  async init(): Promise<void> {
    await this.#writer.init()
    await this.#reader.init()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return new Connection(this.#handle, this.#writer, this.#reader)
  }

  async beginTransaction(connection: Connection): Promise<void> {
    await connection.begin()
  }

  async commitTransaction(connection: Connection): Promise<void> {
    await writing(async () => connection.commit())
  }

  async rollbackTransaction(connection: Connection): Promise<void> {
    connection.rollback()
  }

  async releaseConnection(connection: Connection): Promise<void> {
    await connection.end()
  }

  async destroy(): Promise<void> {
    await this.#reader.destroy()
    await this.#writer.destroy()
  }
}

/**
 * A connection of kysely. What reads has the reader at once; what changes waits for the writer and
 * keeps it until its transaction ends. Every change is in a transaction: a prepared statement that
 * finds the file busy stays open in libsql until it is collected, and until then SQLite commits
 * nothing.
 */
class Connection implements DatabaseConnection {
  readonly #handle: Libsql.Database
  readonly #writer: SqliteDriver
  readonly #reader: SqliteDriver
  #mine: DatabaseConnection | null = null

  constructor(handle: Libsql.Database, writer: SqliteDriver, reader: SqliteDriver) {
    this.#handle = handle
    this.#writer = writer
    this.#reader = reader
  }

  /**
   * Takes the write lock at once: a deferred transaction that turns into a writer can fail
   * half-way.
   */
  async begin(): Promise<DatabaseConnection> {
    this.#mine = await this.#writer.acquireConnection()
    await writing(() => patiently(() => this.#handle.exec('begin immediate')))
    return this.#mine
  }

  commit(): void {
    this.#handle.exec('commit')
  }

  /**
   * A full disk makes SQLite roll back by itself; asking again would hide the reason behind a
   * second error.
   */
  rollback(): void {
    if (this.#handle.inTransaction) this.#handle.exec('rollback')
  }

  async end(): Promise<void> {
    if (!this.#mine) return
    this.#mine = null
    await this.#writer.releaseConnection()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const mine = this.#mine
    if (mine) return writing(() => mine.executeQuery<R>(query))
    if (READS.test(query.sql)) return alone<R>(this.#reader, query)
    return STANDS_ALONE.test(query.sql) ? alone<R>(this.#writer, query) : this.#change<R>(query)
  }

  async #change<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const connection = await this.begin()
      return await writing(async () => {
        const result = await connection.executeQuery<R>(query)
        this.commit()
        return result
      })
    } catch (error) {
      this.rollback()
      throw error
    } finally {
      await this.end()
    }
  }

  streamQuery(): never {
    throw new Error('rows are read page by page, not streamed')
  }
}

async function alone<R>(driver: SqliteDriver, query: CompiledQuery): Promise<QueryResult<R>> {
  const connection = await driver.acquireConnection()
  try {
    return await patiently(() => connection.executeQuery<R>(query))
  } finally {
    await driver.releaseConnection()
  }
}

/**
 * Waits for other processes without standing still: SQLite's own waiting would stop every request
 * of this one.
 */
async function patiently<T>(work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE
  for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || performance.now() > deadline)
        throw error
      await sleep(pause)
    }
  }
}
