import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isMissing } from './durable-file.ts'
import { isReadable, type LockFile, openLockFile, tryLock, unlock } from './lock-file.ts'

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
    writeFileSync(`${this.#path}.holder`, holder)
  }

  /** Frees the lock; does nothing when it is not held. */
  release(): void {
    if (this.#file) unlock(this.#file)
    this.#file?.close()
    this.#file = null
  }
}
