import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { pathToFileURL } from 'node:url'
import Libsql from 'libsql'

/** SQLite's own layer below a file. */
const VFS = process.platform === 'win32' ? 'win32' : 'unix'

/** SQLite's numbers for why a file cannot be opened. */
const CODES: Readonly<Record<string, string>> = {
  5: 'SQLITE_BUSY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  26: 'SQLITE_NOTADB',
}

/**
 * Opens a file of SQLite, or with `:memory:` a database in no file; everything that opens one does
 * it here. By default libsql opens files through a layer for encryption that hides a failed read:
 * statements answer from what the buffer held, and the next write stores it. Throws an error with
 * a code of the system, or of SQLite.
 */
export function openSqlite(path: string): Libsql.Database {
  const address = path === ':memory:' ? `file:${path}` : pathToFileURL(path).href
  try {
    return new Libsql(`${address}?vfs=${VFS}`)
  } catch (error) {
    // libsql names the code only in its text, and the system may know better. The file itself is
    // not opened and closed: that would drop all locks that this process has on it (POSIX).
    if (statSync(path).isDirectory()) throw Object.assign(error as Error, { code: 'EISDIR', path })
    accessSync(path, constants.R_OK | constants.W_OK)
    closeSync(openSync(devNull, 'r'))
    const number = /: (\d+)"\)$/.exec((error as Error).message)?.[1] ?? ''
    const code = CODES[number] ?? 'SQLITE_CANTOPEN'
    throw Object.assign(new Error(`${path} cannot be opened: ${code}`, { cause: error }), { code })
  }
}

/**
 * Returns the first fault that SQLite finds in a whole file, on a connection of its own; null for a
 * sound one. Its time grows with the file.
 */
export function findFault(path: string): string | null {
  try {
    const database = openSqlite(path)
    try {
      const [row] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
      // Its first line names the database.
      const said = row?.quick_check.split('\n').at(-1) ?? 'quick_check says nothing'
      return requireRead(said) === 'ok' ? null : said
    } finally {
      database.close()
    }
  } catch (error) {
    if (isDamageCode(error)) return (error as Error).message
    throw error
  }
}

/** Returns a line of a check; throws for a read that failed, which SQLite lists as if it were damage. */
export function requireRead(said: string): string {
  const [, code] = /unable to get the page\. error code=(\d+)/.exec(said) ?? []
  if (CODES[Number(code) % 256] !== 'SQLITE_IOERR') return said
  throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
}

/** Returns whether SQLite says that a file is damaged; it also says so after one failed read. */
export function isDamageCode(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(String((error as { code?: unknown } | null)?.code))
}
