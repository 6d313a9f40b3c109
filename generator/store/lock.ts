import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Libsql from 'libsql'
import { isMissing } from './durable-file.ts'

/**
 * A lock between processes that the operating system frees when its holder dies, however it dies: SQLite's own file
 * lock on an otherwise empty database. Not reentrant.
 */
export class Lock {
  readonly #path: string
  #connection: Libsql.Database | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Takes the lock if it is free; `holder` is a line about this process that others may read. */
  tryAcquire(holder: string): boolean {
    const connection = open(this.#path)
    // Somebody who only looks (`isHeld`) is in the way for a moment.
    connection.exec('PRAGMA busy_timeout = 500')
    if (!begin(connection, 'EXCLUSIVE')) {
      connection.close()
      return false
    }
    this.#connection = connection
    this.describe(holder)
    return true
  }

  /** Whether somebody, here or in another process, holds the lock now. */
  isHeld(): boolean {
    if (this.#connection) return true
    if (!existsSync(this.#path)) return false
    const connection = open(this.#path)
    try {
      // Reading needs the shared lock only, which the holder's exclusive one rules out.
      return !attempt(connection, 'SELECT count(*) FROM sqlite_master')
    } finally {
      connection.close()
    }
  }

  /** What the present or last holder said of itself; empty if nobody ever held the lock. */
  holder(): string {
    try {
      return readFileSync(`${this.#path}.holder`, 'utf8')
    } catch (error) {
      if (isMissing(error)) return ''
      throw error
    }
  }

  /** Rewrites what this process, which holds the lock, says of itself. */
  describe(holder: string): void {
    writeFileSync(`${this.#path}.holder`, holder)
  }

  /** Frees the lock; does nothing when it is not held. */
  release(): void {
    if (this.#connection) end(this.#connection)
    this.#connection?.close()
    this.#connection = null
  }
}

/**
 * Turns work of many callers, here and in other processes, into one thing at a time. Callers of one process queue up
 * in order. Between processes two lock files decide: whoever waits for the `door` holds the `gate`, so that a process
 * with a long queue lets others in between.
 */
export class ProcessMutex {
  readonly #path: string
  #gate: Libsql.Database | null = null
  #door: Libsql.Database | null = null
  #last: Promise<unknown> = Promise.resolve()
  readonly #begin: () => Promise<void>

  /** `begin`: what every turn begins with, to make up for holders that were killed. */
  constructor(path: string, begin: () => Promise<void> = async () => undefined) {
    this.#path = path
    this.#begin = begin
  }

  /** Runs `work` while nobody else does; waits as long as it takes. Not reentrant: `work` must not come back here. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#held(work))
    // The next caller waits for this turn, whether it succeeds or not; the failure itself goes to its own caller.
    this.#last = turn.then(
      () => undefined,
      () => undefined,
    )
    return turn
  }

  /** Waits for the running work and lets go of the lock files. */
  async close(): Promise<void> {
    await this.#last
    this.#gate?.close()
    this.#door?.close()
    this.#gate = null
    this.#door = null
  }

  async #held<T>(work: () => Promise<T>): Promise<T> {
    this.#gate ??= open(`${this.#path}.gate`)
    this.#door ??= open(this.#path)
    const [gate, door] = [this.#gate, this.#door]
    await enter(gate)
    try {
      await enter(door)
    } finally {
      end(gate)
    }
    try {
      await this.#begin()
      return await work()
    } finally {
      end(door)
    }
  }
}

function open(path: string): Libsql.Database {
  mkdirSync(dirname(path), { recursive: true })
  const connection = new Libsql(path)
  connection.exec('PRAGMA busy_timeout = 0')
  return connection
}

async function enter(connection: Libsql.Database): Promise<void> {
  for (let pause = 1; !begin(connection, 'IMMEDIATE'); pause = Math.min(pause * 2, 10))
    await sleep(pause)
}

function begin(connection: Libsql.Database, mode: 'EXCLUSIVE' | 'IMMEDIATE'): boolean {
  return attempt(connection, `BEGIN ${mode}`)
}

/** Frees what `begin` took. Closing alone would not: libsql keeps a connection until its last statement is collected. */
function end(connection: Libsql.Database): void {
  connection.exec('ROLLBACK')
}

/** Runs a statement; false when another connection's lock is in its way. */
function attempt(connection: Libsql.Database, statement: string): boolean {
  try {
    connection.exec(statement)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return false
    throw error
  }
}
