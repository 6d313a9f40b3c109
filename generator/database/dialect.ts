import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely'
import type Libsql from 'libsql'

/** How long a statement waits for another process to finish its transaction. */
const PATIENCE = 10_000

/** kysely over libsql, which speaks better-sqlite3's interface, for a file that several processes use. */
export class LibsqlDialect extends SqliteDialect {
  readonly #database: Libsql.Database

  constructor(database: Libsql.Database) {
    super({ database: database as SqliteDatabase })
    this.#database = database
  }

  override createDriver(): SqliteDriver {
    return new LibsqlDriver(this.#database)
  }

  override createAdapter(): SqliteAdapter {
    return new LibsqlAdapter()
  }
}

/** All steps of a migration are one transaction: two processes never migrate at once, and none stops half-way. */
class LibsqlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class LibsqlDriver extends SqliteDriver {
  readonly #database: Libsql.Database

  constructor(database: Libsql.Database) {
    super({ database: database as SqliteDatabase })
    this.#database = database
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new PatientConnection(await super.acquireConnection(), this.#database)
  }

  /** Every transaction takes the write lock at its start: a deferred one that turns into a writer can fail half-way. */
  override async beginTransaction(): Promise<void> {
    await patiently(() => this.#database.exec('begin immediate'))
  }

  override async commitTransaction(): Promise<void> {
    this.#database.exec('commit')
  }

  /** A full disk makes SQLite roll back by itself; asking again would hide the reason behind a second error. */
  override async rollbackTransaction(): Promise<void> {
    if (this.#database.inTransaction) this.#database.exec('rollback')
  }
}

/** Judged by the text, for SQL written by hand has it, too. `VACUUM INTO` reads, and refuses to be in a transaction. */
const READS = /^\s*(?:select|pragma|vacuum)\b/i

/**
 * A connection on which no change ever meets another writer half-way: each is in a transaction, its own if need be. A
 * prepared statement that finds the file busy stays open in libsql until it is garbage, and as long as it does, SQLite
 * commits nothing.
 */
class PatientConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection
  readonly #database: Libsql.Database

  constructor(connection: DatabaseConnection, database: Libsql.Database) {
    this.#connection = connection
    this.#database = database
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#database.inTransaction) return this.#connection.executeQuery<R>(query)
    if (READS.test(query.sql)) return patiently(() => this.#connection.executeQuery<R>(query))
    await patiently(() => this.#database.exec('begin immediate'))
    try {
      const result = await this.#connection.executeQuery<R>(query)
      this.#database.exec('commit')
      return result
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('rollback')
      throw error
    }
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery(query, chunkSize)
  }
}

/** Waits for other processes without standing still: SQLite's own waiting would stop every request of this one. */
async function patiently<T>(work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE
  for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || performance.now() > deadline) throw error
      await sleep(pause)
    }
  }
}
