import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient, QueryResult } from 'pg'
import { Backoff } from '../../../core/async/backoff.ts'
import { type Connection, committed, type Driver } from '../connection.ts'
import type { Result } from '../statement.ts'
import { failure, isLost, unknownOutcome } from './failure.ts'
import type { Server } from './server.ts'
import { translate } from './translation.ts'
import { parameter } from './values.ts'

/** Matches statements that read. */
const READS = /^\s*select\b/i
/** Matches statements that are kept prepared; others, such as schema changes, are rare. */
const KEPT = /^\s*(?:select|insert|update|delete|with)\b/i
/** A text that is another one after each crash of the server, and on a replica of it. */
const CRASH = '(SELECT stats_reset::text FROM pg_stat_bgwriter)'

/**
 * Begins a transaction that writes. The lock serializes the writers of all processes, as SQLite
 * does: ids and generations are given in the order of the commits. The number of the transaction
 * tells later whether it was committed, unless the server has crashed: it may then give the number
 * to another transaction. A crash resets its statistics; a restart does not.
 */
const BEGIN = `BEGIN; SELECT pg_advisory_xact_lock(1886150003, hashtext(current_schema()));
  SELECT pg_current_xact_id()::text AS id, ${CRASH} AS crash`

/** A transaction of the writer. */
interface Transaction {
  readonly client: PoolClient
  readonly id: string
  readonly crash: string | null
  readonly release: () => void
}

/** What the server says of a transaction. */
interface Outcome {
  readonly outcome: string | null
  readonly crash: string | null
}

/**
 * A read takes any connection of the pool, and another one if that is lost; a
 * change is a transaction of the writer, of which each process has one.
 */
export class Session implements Connection {
  readonly #server: Server
  #transaction: Transaction | null = null
  /** Whether the writer's connection is lost, or in a state that nobody knows. */
  #isBroken = false

  constructor(server: Server) {
    this.#server = server
  }

  /** Begins a transaction; on a lost connection tries again with a new one. */
  async begin(): Promise<void> {
    const release = await this.#server.takeTurn()
    try {
      this.#transaction = await retried(async () => {
        const client = await this.#server.writer.connect()
        try {
          const results = (await client.query(BEGIN)) as unknown as readonly QueryResult[]
          const begun = results.at(-1)?.rows[0]
          return { client, id: String(begun.id), crash: begun.crash, release }
        } catch (error) {
          client.release(true)
          throw error
        }
      })
    } catch (error) {
      release()
      throw failure(error)
    }
  }

  /** Commits. If the connection is lost meanwhile, asks the server what became of it. */
  async commit(): Promise<void> {
    const { client, id, crash } = this.#transaction as Transaction
    try {
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back')
    } catch (error) {
      this.#isBroken = true
      if (!isLost(error)) throw failure(error)
      const outcome = await this.#outcome(id, crash).catch(() => null)
      if (outcome === 'aborted') throw failure(error)
      if (outcome !== 'committed') throw unknownOutcome(error)
    }
  }

  /** A lost connection rolls back by itself. */
  async rollback(): Promise<void> {
    if (!this.#transaction || this.#isBroken) return
    await this.#transaction.client.query('ROLLBACK').catch(() => {
      this.#isBroken = true
    })
  }

  end(): void {
    this.#transaction?.client.release(this.#isBroken)
    this.#transaction?.release()
    this.#transaction = null
    this.#isBroken = false
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<Result> {
    if (this.#transaction) return this.#query(this.#transaction.client, sql, parameters)
    if (READS.test(sql)) return this.#read(sql, parameters)
    return committed(this, () => this.execute(sql, parameters))
  }

  async #query(client: PoolClient, sql: string, parameters: readonly unknown[]): Promise<Result> {
    try {
      return await execute(client, sql, parameters)
    } catch (error) {
      if (isLost(error)) this.#isBroken = true
      throw failure(error)
    }
  }

  async #read(sql: string, parameters: readonly unknown[]): Promise<Result> {
    try {
      return await retried(async () => {
        const client = await this.#server.readers.connect()
        let isBroken = true
        try {
          const result = await execute(client, sql, parameters)
          isBroken = false
          return result
        } catch (error) {
          isBroken = isLost(error)
          throw error
        } finally {
          client.release(isBroken)
        }
      })
    } catch (error) {
      throw failure(error)
    }
  }

  /**
   * Returns what became of a transaction whose connection was lost while it was committed; null
   * when that cannot be told.
   */
  async #outcome(id: string, before: string | null): Promise<string | null> {
    return retried(async () => {
      const text = `SELECT pg_xact_status(CAST($1 AS xid8)) AS outcome, ${CRASH} AS crash`
      const { rows } = await this.#server.readers.query<Outcome>(text, [id])
      const { outcome = null, crash = null } = rows[0] ?? {}
      if (outcome === 'in progress') throw new Error('Connection terminated')
      return outcome === 'committed' && crash !== before ? null : outcome
    }, LONG_ATTEMPTS)
  }
}

/** Returns the engine of a PostgreSQL server. */
export function driverOf(server: Server): Driver {
  return {
    engine: 'PostgreSQL',
    connect: () => new Session(server),
    close: () => server.close(),
  }
}

/** Executes a statement of the catalog. */
export async function execute(
  client: PoolClient,
  sql: string,
  parameters: readonly unknown[],
): Promise<Result> {
  const { text, arrays } = translate(sql)
  const values = parameters.map((value, at) => parameter(value, arrays.has(at)))
  // Without parameters several statements may be sent at once, as for triggers.
  const isPrepared = values.length > 0 && KEPT.test(text)
  const found = isPrepared
    ? await client.query({ name: nameOf(text), text, values })
    : await client.query(text, values)
  const { rows, rowCount, command } = Array.isArray(found) ? (found.at(-1) as QueryResult) : found
  return { rows, changes: command === 'SELECT' ? 0 : (rowCount ?? 0) }
}

const names = new Map<string, string>()

/** Returns the name of a prepared statement; texts are constant, so that there are few. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `plimsoll_${names.size}`
  names.set(text, name)
  return name
}

/** How often work is tried; a restart of the server takes some seconds. */
const ATTEMPTS = 3
const LONG_ATTEMPTS = 7

/** Does work again when the connection was lost; work that may have changed anything must not be. */
export async function retried<T>(work: () => Promise<T>, attempts = ATTEMPTS): Promise<T> {
  const backoff = new Backoff(100, 4000)
  for (let left = attempts; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!isLost(error) || left === 1) throw error
      await sleep(backoff.next())
    }
  }
}
