import { setTimeout as sleep } from 'node:timers/promises'
import {
  CompiledQuery,
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
    return new PatientConnection(await super.acquireConnection())
  }

  /** Every transaction takes the write lock at its start: a deferred one that turns into a writer can fail half-way. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  /** A full disk makes SQLite roll back by itself; asking again would hide the reason behind a second error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }
}

/** Waits for other processes without standing still: SQLite's own waiting would stop every request of this one. */
class PatientConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const deadline = performance.now() + PATIENCE
    for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
      try {
        return await this.#connection.executeQuery<R>(query)
      } catch (error) {
        // A statement that found the file busy has done nothing and can be given again.
        if ((error as { code?: string }).code !== 'SQLITE_BUSY' || performance.now() > deadline) throw error
        await sleep(pause)
      }
    }
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery(query, chunkSize)
  }
}
