import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Libsql from 'libsql'

/**
 * A connection to a lock file: an otherwise empty database, for the sake of SQLite's own file lock.
 */
export type LockFile = Libsql.Database

/** Opens, and creates, a lock file. Nothing waits in SQLite, which would stop the process. */
export function openLockFile(path: string): LockFile {
  mkdirSync(dirname(path), { recursive: true })
  const file = new Libsql(path)
  file.exec('PRAGMA busy_timeout = 0')
  return file
}

/** Takes the lock: `EXCLUSIVE` keeps out even those who only look; false when another has it. */
export function tryLock(file: LockFile, mode: 'EXCLUSIVE' | 'IMMEDIATE'): boolean {
  return attempt(file, `BEGIN ${mode}`)
}

/** Whether nobody has the lock exclusively: reading needs the shared lock, which that rules out. */
export function isReadable(file: LockFile): boolean {
  return attempt(file, 'SELECT count(*) FROM sqlite_master')
}

/** Frees the lock. Closing is not enough: libsql closes when the last statement is collected. */
export function unlock(file: LockFile): void {
  file.exec('ROLLBACK')
}

/** Runs a statement; false when another connection's lock is in its way. */
function attempt(file: LockFile, statement: string): boolean {
  try {
    file.exec(statement)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return false
    throw error
  }
}
