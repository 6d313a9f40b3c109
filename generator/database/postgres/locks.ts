import type { Pool, PoolClient, QueryResult } from 'pg'
import { Mutex } from '../../../core/async/mutex.ts'
import type {
  Lease,
  LeaseName,
  Locks,
  MutexName,
  ProcessMutex,
  RenderedSubject,
} from '../../places/locks/process-mutex.ts'
import { retried } from './database.ts'
import { poolOf, type ServerSettings } from './server.ts'

/** First numbers of the advisory locks; the schema is the second. One less is the writers' lock. */
const MUTEXES: Readonly<Record<MutexName, number>> = {
  build: 1886150004,
  pages: 1886150005,
  git: 1886150006,
}
const LEASES: Readonly<Record<LeaseName, number>> = {
  git: 1886150007,
  downloads: 1886150008,
  webhooks: 1886150009,
}

/** The most locks that a process holds or waits for, one connection each. */
const MOST = 5

/** A holder that is silent for this many milliseconds loses its lock. */
const SILENT_MS = 8000
/** How often a holder says that it is alive; a wait for a lock is renewed as often. */
const PING_MS = 2000
/** How long an answer of the server may take; more than a renewed wait. */
const ANSWER_MS = 5000
/** The pause before another attempt to make up for a lost mutex. */
const PAUSE_MS = 1000
/** PostgreSQL's code for a lock that was not available within `lock_timeout`. */
const NOT_AVAILABLE = '55P03'

/**
 * The locks of processes on several machines: advisory locks of transactions. The server frees
 * those of a process that dies at once, and those of one that it no longer hears within 8 seconds.
 */
export class ServerLocks implements Locks {
  readonly #pool: Pool
  readonly #leases: Lease[] = []
  readonly #before: () => Promise<void>
  readonly #markAgain: MarkAgain

  /** `before` begins each turn of a mutex; `markAgain` makes up for a turn that lost its mutex. */
  constructor(
    settings: ServerSettings,
    before: () => Promise<void> = async () => {},
    markAgain: MarkAgain = async () => {},
  ) {
    this.#before = before
    this.#markAgain = markAgain
    this.#pool = poolOf(settings, MOST, {
      statement_timeout: 0,
      lock_timeout: PING_MS,
      idle_in_transaction_session_timeout: SILENT_MS,
      query_timeout: ANSWER_MS,
    })
  }

  mutex(name: MutexName): ProcessMutex {
    const take = async () => {
      for (;;) {
        const hold = await this.#take('pg_advisory_xact_lock', MUTEXES[name])
        if (hold) return hold
      }
    }
    return new ServerMutex(take, this.#before, this.#markAgain)
  }

  lease(name: LeaseName): Lease {
    const lease = new ServerLease(() => this.#take('pg_try_advisory_xact_lock', LEASES[name]))
    this.#leases.push(lease)
    return lease
  }

  async close(): Promise<void> {
    for (const lease of this.#leases) await lease.close()
    await this.#pool.end()
  }

  /** Begins a transaction with a lock; null if another process has it. Refuses without a server. */
  #take(take: string, key: number): Promise<Hold | null> {
    const sql = `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${take}(${key}, hashtext(current_schema())) AS taken`
    return retried(async () => {
      const client = await this.#pool.connect()
      try {
        const results = (await client.query(sql)) as unknown as readonly QueryResult[]
        if (results.at(-1)?.rows[0]?.taken !== 0) return new Hold(client)
      } catch (error) {
        if ((error as { code?: string }).code !== NOT_AVAILABLE) {
          client.release(true)
          throw error
        }
      }
      await client.query('ROLLBACK').then(
        () => client.release(),
        () => client.release(true),
      )
      return null
    })
  }
}

/** Marks what was rendered, so that it is rendered once more. */
type MarkAgain = (subjects: readonly RenderedSubject[]) => Promise<void>

/** A lock that is held as long as its transaction is open. */
class Hold {
  readonly #client: PoolClient
  readonly #timer = setInterval(() => void this.isAlive(), PING_MS).unref()
  /** Ends when the server has answered all: a connection takes one query at a time. */
  #last: Promise<boolean> = Promise.resolve(true)

  constructor(client: PoolClient) {
    this.#client = client
  }

  /** Returns whether the transaction has been open until now, and with it the lock. */
  isAlive(): Promise<boolean> {
    return this.#says('SELECT 1', 'SELECT')
  }

  /** Frees the lock; returns whether it was held until now. */
  async release(): Promise<boolean> {
    clearInterval(this.#timer)
    const isHeld = await this.#says('COMMIT', 'COMMIT')
    this.#client.release(!isHeld)
    return isHeld
  }

  #says(text: string, answer: string): Promise<boolean> {
    const ask = async (isHeld: boolean) =>
      isHeld && (await this.#client.query(text)).command === answer
    // After an error nobody knows who has the lock.
    this.#last = this.#last.then(ask).catch(() => false)
    return this.#last
  }
}

/** A mutex that may be lost while work goes on, such as by a process that was stopped. */
class ServerMutex implements ProcessMutex {
  readonly #take: () => Promise<Hold>
  readonly #before: () => Promise<void>
  readonly #markAgain: MarkAgain
  readonly #mutex = new Mutex()
  #hold: Hold | null = null
  /** What the running work renders, and what turns rendered that have lost the mutex. */
  #rendered: RenderedSubject[] = []
  #lost: RenderedSubject[] = []

  constructor(take: () => Promise<Hold>, before: () => Promise<void>, markAgain: MarkAgain) {
    this.#take = take
    this.#before = before
    this.#markAgain = markAgain
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      const hold = await this.#take()
      this.#hold = hold
      try {
        await this.#makeUp()
        await this.#before()
        return await work()
      } finally {
        this.#hold = null
        const isLost = !(await hold.release()) && this.#rendered.length > 0
        if (isLost) this.#lost.push(...this.#rendered)
        if (isLost) this.#later()
        this.#rendered = []
      }
    })
  }

  renders(subjects: readonly RenderedSubject[]): void {
    this.#rendered.push(...subjects)
  }

  async isHeld(): Promise<boolean> {
    return (await this.#hold?.isAlive()) ?? false
  }

  /** Throws when it cannot make up for a lost mutex. */
  async close(): Promise<void> {
    await this.#mutex.idle()
    if (this.#lost.length > 0) await this.run(async () => undefined)
  }

  async #makeUp(): Promise<void> {
    if (this.#lost.length === 0) return
    await this.#markAgain(this.#lost)
    this.#lost = []
  }

  #later(): void {
    setTimeout(() => {
      if (this.#lost.length > 0) this.run(async () => undefined).catch(() => this.#later())
    }, PAUSE_MS).unref()
  }
}

/** A lease that ends with the process, or when the server no longer hears of it. */
class ServerLease implements Lease {
  readonly #tryTake: () => Promise<Hold | null>
  /** Of two who take it at once, one would find it taken, and forget that it is the other's. */
  readonly #mutex = new Mutex()
  #hold: Hold | null = null

  constructor(tryTake: () => Promise<Hold | null>) {
    this.#tryTake = tryTake
  }

  isMine(): Promise<boolean> {
    return this.#mutex.run(async () => {
      if (this.#hold && (await this.#hold.isAlive())) return true
      await this.#release()
      this.#hold = await this.#tryTake()
      return this.#hold !== null
    })
  }

  close(): Promise<void> {
    return this.#mutex.run(() => this.#release())
  }

  async #release(): Promise<void> {
    await this.#hold?.release()
    this.#hold = null
  }
}
