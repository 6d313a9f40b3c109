import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Libsql from 'libsql'

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
    this.#connection = this.#begin()
    if (!this.#connection) return false
    this.describe(holder)
    return true
  }

  /** Whether somebody, here or in another process, holds the lock now. */
  isHeld(): boolean {
    if (this.#connection) return true
    const connection = existsSync(this.#path) ? this.#begin() : null
    connection?.close()
    return existsSync(this.#path) && connection === null
  }

  /** What the present or last holder said of itself; empty if nobody ever held the lock. */
  holder(): string {
    try {
      return readFileSync(`${this.#path}.holder`, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
      throw error
    }
  }

  /** Rewrites what this process, which holds the lock, says of itself. */
  describe(holder: string): void {
    writeFileSync(`${this.#path}.holder`, holder)
  }

  #begin(): Libsql.Database | null {
    mkdirSync(dirname(this.#path), { recursive: true })
    const connection = new Libsql(this.#path)
    connection.exec('PRAGMA busy_timeout = 0')
    if (begin(connection, 'EXCLUSIVE')) return connection
    connection.close()
    return null
  }

  /** Frees the lock; does nothing when it is not held. */
  release(): void {
    this.#connection?.close()
    this.#connection = null
  }
}

/**
 * Turns work of many callers, here and in other processes, into one thing at a time. Callers of one process queue up
 * in order; between processes the lock file decides.
 */
export class Turnstile {
  readonly #path: string
  #connection: Libsql.Database | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  /** Runs `work` while nobody else does; waits as long as it takes. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#held(work))
    // The next caller waits for this turn, whether it succeeds or not; the failure itself goes to its own caller.
    this.#last = turn.then(
      () => undefined,
      () => undefined,
    )
    return turn
  }

  /** Waits for the running work and lets go of the lock file. */
  async close(): Promise<void> {
    await this.#last
    this.#connection?.close()
    this.#connection = null
  }

  async #held<T>(work: () => Promise<T>): Promise<T> {
    const connection = this.#open()
    for (let pause = 1; !begin(connection, 'IMMEDIATE'); pause = Math.min(pause * 2, 50)) await sleep(pause)
    try {
      return await work()
    } finally {
      connection.exec('COMMIT')
    }
  }

  #open(): Libsql.Database {
    if (!this.#connection) {
      mkdirSync(dirname(this.#path), { recursive: true })
      this.#connection = new Libsql(this.#path)
      this.#connection.exec('PRAGMA busy_timeout = 0')
    }
    return this.#connection
  }
}

function begin(connection: Libsql.Database, mode: 'EXCLUSIVE' | 'IMMEDIATE'): boolean {
  try {
    connection.exec(`BEGIN ${mode}`)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return false
    throw error
  }
}
