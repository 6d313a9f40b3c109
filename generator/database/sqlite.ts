import { setTimeout as sleep } from 'node:timers/promises'
import type Libsql from 'libsql'
import { LRUCache } from 'lru-cache'
import { Mutex } from '../../core/async/mutex.ts'
import { writing } from '../places/disk/fault.ts'
import { type Connection, committed, type Driver } from './connection.ts'
import { paced } from './pace.ts'
import type { Result } from './statement.ts'
import type { WalSync } from './wal-sync.ts'

/** How many milliseconds a statement waits for another process's transaction. */
const LOCK_TIMEOUT_MS = 10_000

/** The most prepared statements kept for each of the two handles. */
const MAX_STATEMENTS = 500

/** Matches statements that read. */
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

/** SQLite by libsql, for a file in WAL mode that several processes use. */
export class SqliteDriver implements Driver {
  readonly engine = 'SQLite'
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

  connect(): Connection {
    return new SqliteConnection(this.#writer, this.#reader, this.#mutex, this.#wal)
  }

  async close(): Promise<void> {
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
  query(sql: string, parameters: readonly unknown[]): Result {
    const statement = this.#statements.get(sql) ?? this.#prepare(sql)
    try {
      if (statement.reader) return { rows: statement.all(parameters), changes: 0 }
      return { rows: [], changes: statement.run(parameters).changes }
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
 * A read uses the reader at once; a change waits for the writer and keeps it
 * until its transaction is committed. Every change is in a transaction: a prepared statement that
 * finds the file busy stays open in libsql until it is collected, and until then SQLite commits
 * nothing.
 */
class SqliteConnection implements Connection {
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
  async rollback(): Promise<void> {
    if (this.#release && this.#writer.inTransaction) this.#writer.exec('rollback')
  }

  end(): void {
    this.#release?.()
    this.#release = null
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<Result> {
    const change = () => this.#writer.query(sql, parameters)
    // SQLite answers within the call: statements alone would keep the event loop from others.
    if (this.#release) return writing(() => paced(change))
    if (READS.test(sql)) return retryWhileLocked(() => this.#reader.query(sql, parameters))
    if (STANDS_ALONE.test(sql)) return this.#alone(change)
    return committed(this, () => this.execute(sql, parameters))
  }

  async #alone(work: () => Result): Promise<Result> {
    await this.#take()
    try {
      return await retryWhileLocked(work)
    } finally {
      this.end()
    }
  }

  async #take(): Promise<void> {
    this.#release = await new Promise<() => void>(taken => {
      void this.#mutex.run(() => new Promise<void>(taken))
    })
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
