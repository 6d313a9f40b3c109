// generator/places/locks: One process at a time. Rooms whose files others also write call it;
// it never holds data.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type Libsql from 'libsql'
import { Mutex } from '../../../core/async/mutex.ts'
import { createPrivately } from '../disk/durable.ts'
import { writing } from '../disk/fault.ts'
import { openSqlite } from '../disk/sqlite-file.ts'
import { isMissing } from '../disk/steps.ts'
import type { Lease, Locks, MutexName, ProcessMutex } from './process-mutex.ts'

/** A lock between processes; the operating system frees it when its holder dies. Not reentrant. */
export class Lock {
  readonly #path: string
  #file: LockFile | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Takes the lock if it is free; `holder` describes this process to other processes. */
  tryAcquire(holder: string): boolean {
    const file = openLockFile(this.#path)
    // Another process that calls `isHeld` holds a shared lock for a moment.
    file.exec('PRAGMA busy_timeout = 500')
    if (!tryLock(file, 'EXCLUSIVE')) {
      file.close()
      return false
    }
    this.#file = file
    this.describe(holder)
    return true
  }

  /** Returns whether this process or another one holds the lock now. */
  isHeld(): boolean {
    if (this.#file) return true
    if (!existsSync(this.#path)) return false
    const file = openLockFile(this.#path)
    try {
      return !isReadable(file)
    } finally {
      file.close()
    }
  }

  /** Returns the line of the current or last holder; empty if the lock was never held. */
  holder(): string {
    try {
      return readFileSync(`${this.#path}.holder`, 'utf8')
    } catch (error) {
      if (isMissing(error)) return ''
      throw error
    }
  }

  /** Replaces the holder's line; this process must hold the lock. */
  describe(holder: string): void {
    writeFileSync(`${this.#path}.holder`, holder, { mode: 0o600 })
  }

  /** Frees the lock; does nothing when it is not held. */
  release(): void {
    if (this.#file) unlock(this.#file)
    this.#file?.close()
    this.#file = null
  }
}

/**
 * The mutex of processes that share a registry folder. Two lock files decide: a process holds the
 * queue file while it waits for the work file, so that a process with many callers does not starve
 * the others. The system frees the files of a process that dies, and no others.
 */
export class FileMutex implements ProcessMutex {
  readonly #path: string
  readonly #before: () => Promise<void>
  readonly #mutex = new Mutex()
  #files: { readonly queue: LockFile; readonly work: LockFile } | null = null

  constructor(path: string, before = async () => {}) {
    this.#path = path
    this.#before = before
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      this.#files ??= { queue: openOften(`${this.#path}.gate`), work: openOften(this.#path) }
      const { queue, work: file } = this.#files
      await lock(queue)
      try {
        await lock(file)
      } finally {
        unlock(queue)
      }
      try {
        await this.#before()
        return await work()
      } finally {
        unlock(file)
      }
    })
  }

  renders(): void {}

  async isHeld(): Promise<boolean> {
    return true
  }

  async close(): Promise<void> {
    await this.#mutex.idle()
    this.#files?.queue.close()
    this.#files?.work.close()
    this.#files = null
  }
}

/** The mutexes of a registry whose processes share a folder; `dir` has their files. */
export class FileLocks implements Locks {
  readonly #dir: string
  readonly #before: (() => Promise<void>) | undefined

  constructor(dir: string, before?: () => Promise<void>) {
    this.#dir = dir
    this.#before = before
  }

  mutex(name: MutexName): ProcessMutex {
    return new FileMutex(join(this.#dir, `${name}.lock`), this.#before)
  }

  /** Such work in a folder is done under a lock of the folder already. */
  lease(): Lease {
    return { isMine: async () => true, close: async () => undefined }
  }

  async close(): Promise<void> {}
}

function lock(file: LockFile): Promise<void> {
  return writing(async () => {
    for (let pause = 1; !tryLock(file, 'IMMEDIATE'); pause = Math.min(pause * 2, 10))
      await sleep(pause)
  })
}

/** A connection to a lock file: an empty database that is used only for SQLite's file locks. */
type LockFile = Libsql.Database

/**
 * Opens or creates a lock file. Only its owner can read it: a reader could keep the lock. SQLite
 * itself never waits: that would block the process.
 */
function openLockFile(path: string): LockFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  createPrivately(path)
  const file = openSqlite(path)
  file.exec('PRAGMA busy_timeout = 0')
  return file
}

/**
 * Opens a lock file that is locked often. SQLite begins a journal with every lock, which nobody
 * reads: a file that is made and removed takes five times as long as one in memory.
 */
function openOften(path: string): LockFile {
  const file = openLockFile(path)
  // This fails while SQLite removes the journal of a killed process; SQLite then uses files.
  attempt(file, 'PRAGMA journal_mode = MEMORY')
  return file
}

/** Takes the lock, `EXCLUSIVE` even against readers; returns false when another process has it. */
function tryLock(file: LockFile, mode: 'EXCLUSIVE' | 'IMMEDIATE'): boolean {
  return attempt(file, `BEGIN ${mode}`)
}

/** Returns whether the file can be read: an exclusive lock of another connection prevents that. */
function isReadable(file: LockFile): boolean {
  return attempt(file, 'SELECT count(*) FROM sqlite_master')
}

/** Frees the lock. Closing is not enough: libsql closes after the last statement is collected. */
function unlock(file: LockFile): void {
  file.exec('ROLLBACK')
}

/** Runs a statement; returns false when another connection's lock prevents it. */
function attempt(file: LockFile, statement: string): boolean {
  try {
    file.exec(statement)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return false
    throw error
  }
}
