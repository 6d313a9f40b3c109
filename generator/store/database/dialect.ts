import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
} from 'kysely'
import type Libsql from 'libsql'
import { LRUCache } from 'lru-cache'
import { Mutex } from '../../../core/mutex.ts'
import { writing } from '../storage-fault.ts'
import { paced } from './pace.ts'
import type { WalSync } from './wal-sync.ts'

/** How many milliseconds a statement waits for another process's transaction. */
const LOCK_TIMEOUT_MS = 10_000

/** The most prepared statements kept for each of the two handles. */
const MAX_STATEMENTS = 500

/** Matches statements that read. Raw SQL has no syntax tree in Kysely, only its text. */
const READS = /^\s*select\b/i
/** Matches statements that are kept prepared; others, such as schema changes, are rare. */
const KEPT = /^\s*(?:select|insert|update|delete|with|savepoint|release|rollback)\b/i
/** Matches statements that are about the writer itself or cannot run in a transaction. */
const STANDS_ALONE = /^\s*(?:pragma|vacuum)\b/i

/** One file, opened twice: readers never wait for a writer, in this process or in another. */
export interface Handles {
  readonly writer: Libsql.Database
  readonly reader: Libsql.Database
  /** Makes a commit durable; null when SQLite does so itself. */
  readonly wal: WalSync | null
}

/**
 * Connects Kysely to libsql, which has better-sqlite3's interface, for a file in WAL mode that
 * several processes use.
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
 * Runs all steps of a migration in one transaction: two processes never migrate at once, and no
 * migration stops halfway.
 */
class LibsqlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class LibsqlDriver implements Driver {
  readonly #writer: Handle
  readonly #reader: Handle
  readonly #wal: WalSync | null
  /** Held by the connection that uses the writer until its transaction ends. */
  readonly #mutex = new Mutex()

  constructor({ writer, reader, wal }: Handles) {
    this.#writer = new Handle(writer)
    this.#reader = new Handle(reader)
    this.#wal = wal
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new Connection(this.#writer, this.#reader, this.#mutex, this.#wal)
  }

  async beginTransaction(connection: Connection): Promise<void> {
    await connection.begin()
  }

  async commitTransaction(connection: Connection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: Connection): Promise<void> {
    connection.rollback()
  }

  async releaseConnection(connection: Connection): Promise<void> {
    connection.end()
  }

  async destroy(): Promise<void> {
    await this.#wal?.close()
    this.#reader.close()
    this.#writer.close()
  }
}

/** An open database with its prepared statements by their text. */
class Handle {
  readonly #database: Libsql.Database
  readonly #statements = new LRUCache<string, Libsql.Statement>({ max: MAX_STATEMENTS })

  constructor(database: Libsql.Database) {
    this.#database = database
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction
  }

  exec(text: string): void {
    this.#database.exec(text)
  }

  /** Runs a statement to its end: an unfinished one would keep its snapshot and its lock. */
  query<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const statement = this.#statements.get(sql) ?? this.#prepare(sql)
    try {
      if (statement.reader) return { rows: statement.all(parameters) as R[] }
      const { changes, lastInsertRowid } = statement.run(parameters)
      return {
        rows: [],
        numAffectedRows: BigInt(changes),
        insertId: BigInt(lastInsertRowid),
      }
    } catch (error) {
      this.#statements.delete(sql)
      throw error
    }
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  #prepare(sql: string): Libsql.Statement {
    const statement = this.#database.prepare(sql)
    if (KEPT.test(sql)) this.#statements.set(sql, statement)
    return statement
  }
}

/**
 * A Kysely connection. A read uses the reader at once; a change waits for the writer and keeps it
 * until its transaction is committed. Every change is in a transaction: a prepared statement that
 * finds the file busy stays open in libsql until it is collected, and until then SQLite commits
 * nothing.
 */
class Connection implements DatabaseConnection {
  readonly #writer: Handle
  readonly #reader: Handle
  readonly #mutex: Mutex
  readonly #wal: WalSync | null
  /** Releases the writer; null while this connection does not have it. */
  #release: (() => void) | null = null

  constructor(writer: Handle, reader: Handle, mutex: Mutex, wal: WalSync | null) {
    this.#writer = writer
    this.#reader = reader
    this.#mutex = mutex
    this.#wal = wal
  }

  /** Takes the write lock at once: a deferred transaction can fail later, at its first write. */
  async begin(): Promise<void> {
    await this.#take()
    await writing(() => retryWhileLocked(() => this.#writer.exec('begin immediate')))
  }

  /** Commits and syncs to disk. Other connections may write as soon as it is committed. */
  async commit(): Promise<void> {
    await writing(async () => this.#writer.exec('commit'))
    this.end()
    await this.#wal?.sync()
  }

  /**
   * A full disk makes SQLite roll back automatically; another rollback would replace that error
   * with its own.
   */
  rollback(): void {
    if (this.#release && this.#writer.inTransaction) this.#writer.exec('rollback')
  }

  end(): void {
    this.#release?.()
    this.#release = null
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // SQLite answers within the call: statements alone would keep the event loop from others.
    if (this.#release) return writing(() => paced(() => this.#writer.query<R>(query)))
    if (READS.test(query.sql)) return retryWhileLocked(() => this.#reader.query<R>(query))
    return STANDS_ALONE.test(query.sql) ? this.#alone<R>(query) : this.#change<R>(query)
  }

  async #alone<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    await this.#take()
    try {
      return await retryWhileLocked(() => this.#writer.query<R>(query))
    } finally {
      this.end()
    }
  }

  async #change<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      await this.begin()
      const result = await writing(async () => this.#writer.query<R>(query))
      await this.commit()
      return result
    } catch (error) {
      this.rollback()
      throw error
    } finally {
      this.end()
    }
  }

  async #take(): Promise<void> {
    this.#release = await new Promise<() => void>(taken => {
      void this.#mutex.run(() => new Promise<void>(taken))
    })
  }

  streamQuery(): never {
    throw new Error('rows are read page by page, not streamed')
  }
}

/**
 * Retries while another process has the lock: SQLite's own waiting would block every request of
 * this process.
 */
async function retryWhileLocked<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS
  for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
    try {
      return await paced(work)
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || performance.now() > deadline)
        throw error
      await sleep(pause)
    }
  }
}
