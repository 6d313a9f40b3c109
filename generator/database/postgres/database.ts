// generator/database/postgres: PostgreSQL behind the interface above. Opening a registry calls it;
// others never see which one it is.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient, QueryResult } from 'pg'
import { Backoff } from '../../../core/async/backoff.ts'
import { Mutex } from '../../../core/async/mutex.ts'
import { unknownOutcome } from '../../places/disk/fault.ts'
import type { Database } from '../connection.ts'
import { inTransaction, type Queries, type Result } from '../statement.ts'
import { failure, isLost } from './failure.ts'
import { poolOf, type ServerSettings } from './server.ts'
import { translate } from './translation.ts'
import { parameter } from './values.ts'

const READS = /^\s*select\b/i
/** Matches statements that are kept prepared; others, such as schema changes, are rare. */
const KEPT = /^\s*(?:select|insert|update|delete|with)\b/i
/** A text that is another one after each crash of the server, and on a replica of it. */
const CRASH = '(SELECT stats_reset::text FROM pg_stat_bgwriter)'

/**
 * Begins a transaction that writes. The lock serializes the writers of all processes, as SQLite
 * does: ids and generations are given in the order of the commits, and each statement sees what
 * was committed before it. The number of the transaction tells later whether it was committed,
 * unless the server has crashed: it may then give the number to another transaction. A crash resets
 * its statistics; a restart does not.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT pg_advisory_xact_lock(1886150003, hashtext(current_schema()));
  SELECT pg_current_xact_id()::text AS id, ${CRASH} AS crash`

const LOST = 'the connection to the database was lost during its commit'

const NO_STANDBY = 'it waits for a standby of the database server that does not answer'

interface Transaction {
  readonly client: PoolClient
  readonly id: string
  readonly crash: string | null
}

/**
 * The records on a PostgreSQL server. A read takes any connection of the pool, and another one if
 * that is lost; a change is a transaction of the writer, of which each process has one.
 */
export class ServerDatabase implements Database {
  readonly engine = 'PostgreSQL'
  readonly #writer: Pool
  readonly #readers: Pool
  /** Held by the work that uses the writer until its transaction ends. */
  readonly #mutex = new Mutex()
  #closing: Promise<void> | null = null

  constructor(settings: ServerSettings, readers = poolOf(settings, settings.pool)) {
    this.#writer = poolOf(settings, 1)
    this.#readers = readers
  }

  execute(sql: string, parameters: readonly unknown[]): Promise<Result> {
    if (!READS.test(sql)) return this.#commit(execute => execute(sql, parameters))
    return retried(() => this.#read(sql, parameters))
  }

  transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    const { engine } = this
    return this.#commit(execute => inTransaction({ engine, execute }, work))
  }

  close(): Promise<void> {
    this.#closing ??= this.#mutex.idle().then(async () => {
      await Promise.all([this.#writer.end(), this.#readers.end()])
    })
    return this.#closing
  }

  #commit<T>(work: (execute: Queries['execute']) => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      const transaction = await this.#begin()
      const { client } = transaction
      /** Whether the connection is lost, or in a state that nobody knows. */
      let isBroken = false
      try {
        const result = await work(async (sql, parameters) => {
          try {
            return await this.send(client, sql, parameters)
          } catch (error) {
            isBroken ||= isLost(error)
            throw failure(error)
          }
        })
        isBroken = true
        isBroken = !(await this.#end(transaction))
        return result
      } catch (error) {
        // A lost connection rolls back by itself.
        if (!isBroken)
          await client.query('ROLLBACK').catch(() => {
            isBroken = true
          })
        throw error
      } finally {
        client.release(isBroken)
      }
    })
  }

  /** Begins a transaction; on a lost connection tries again with a new one. */
  #begin(): Promise<Transaction> {
    return retried(async () => {
      const client = await this.#writer.connect()
      try {
        const results = (await client.query(BEGIN)) as unknown as readonly QueryResult[]
        const begun = results.at(-1)?.rows[0]
        return { client, id: String(begun.id), crash: begun.crash }
      } catch (error) {
        client.release(true)
        throw error
      }
    })
  }

  /**
   * Commits; if the connection is lost meanwhile, asks the server what became of the transaction.
   * Returns whether the connection is still there; throws unless it was committed.
   */
  async #end({ client, id, crash }: Transaction): Promise<boolean> {
    try {
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back')
      return true
    } catch (error) {
      if (!isLost(error)) throw failure(error)
      const outcome = await this.#outcome(id, crash).catch(() => null)
      if (outcome === 'aborted') throw failure(error)
      if (outcome === 'waiting') throw unknownOutcome(NO_STANDBY, error)
      if (outcome !== 'committed') throw unknownOutcome(LOST, error)
      return false
    }
  }

  async #read(sql: string, parameters: readonly unknown[]): Promise<Result> {
    const client = await this.#readers.connect()
    let isBroken = true
    try {
      const result = await this.send(client, sql, parameters)
      isBroken = false
      return result
    } catch (error) {
      isBroken = isLost(error)
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  async send(client: PoolClient, sql: string, parameters: readonly unknown[]): Promise<Result> {
    const { text, arrays } = translate(sql)
    const values = parameters.map((value, at) => parameter(value, arrays.has(at)))
    // One query may have several statements if it has no parameters, as for triggers.
    const isPrepared = values.length > 0 && KEPT.test(text)
    const result = isPrepared
      ? await client.query({ name: nameOf(text), text, values })
      : await client.query(text, values)
    const { rows, rowCount, command } = Array.isArray(result)
      ? (result.at(-1) as QueryResult)
      : result
    return { rows, changes: command === 'SELECT' ? 0 : (rowCount ?? 0) }
  }

  /** Returns what became of a transaction, or `waiting`; null when the server cannot tell. */
  async #outcome(id: string, before: string | null): Promise<string | null> {
    return retried(async () => {
      const sql = `SELECT pg_xact_status(CAST($1 AS xid8)) AS outcome, ${CRASH} AS crash,
        (SELECT wait_event FROM pg_stat_activity
          WHERE backend_xid = xid(CAST($1 AS xid8))) AS waits`
      const { rows } = await this.#readers.query<
        Record<'outcome' | 'crash' | 'waits', string | null>
      >(sql, [id])
      const { outcome = null, crash = null, waits } = rows[0] ?? {}
      if (outcome === 'in progress' && waits === 'SyncRep') return 'waiting'
      if (outcome === 'in progress') throw new Error('Connection terminated')
      return outcome === 'committed' && crash !== before ? null : outcome
    }, LONG_ATTEMPTS)
  }
}

const names = new Map<string, string>()

/** Returns the name of a prepared statement; texts are constant, so that there are few. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `plimsoll_${names.size}`
  names.set(text, name)
  return name
}

/** How many times work is tried: a restart of the server takes some seconds. */
const ATTEMPTS = 3
const LONG_ATTEMPTS = 7

/** Does work again, which has changed nothing, when the connection was lost; then throws `failure`. */
export async function retried<T>(work: () => Promise<T>, attempts = ATTEMPTS): Promise<T> {
  const backoff = new Backoff(100, 4000)
  for (let left = attempts; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!isLost(error) || left === 1) throw failure(error)
      await sleep(backoff.next())
    }
  }
}
