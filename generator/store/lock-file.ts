import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Libsql from 'libsql'

/** A connection to a lock file: an empty database that is used only for SQLite's file locks. */
export type LockFile = Libsql.Database

/** Opens or creates a lock file. SQLite itself never waits: that would block the process. */
export function openLockFile(path: string): LockFile {
  mkdirSync(dirname(path), { recursive: true })
  const file = new Libsql(path)
  file.exec('PRAGMA busy_timeout = 0')
  return file
}

/** Takes the lock, `EXCLUSIVE` even against readers; returns false when another process has it. */
export function tryLock(file: LockFile, mode: 'EXCLUSIVE' | 'IMMEDIATE'): boolean {
  return attempt(file, `BEGIN ${mode}`)
}

/** Returns whether the file can be read: an exclusive lock of another connection prevents that. */
export function isReadable(file: LockFile): boolean {
  return attempt(file, 'SELECT count(*) FROM sqlite_master')
}

/** Frees the lock. Closing is not enough: libsql closes after the last statement is collected. */
export function unlock(file: LockFile): void {
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
