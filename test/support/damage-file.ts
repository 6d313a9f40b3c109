import { closeSync, openSync, writeSync } from 'node:fs'
import { openSqlite } from '../../generator/places/disk/sqlite-file.ts'

/** Writes over the first page of a table in a file of SQLite, which nobody else writes now. */
export function damageTable(path: string, table: string): void {
  const database = openSqlite(path)
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  const pages = database.prepare('SELECT rootpage AS page FROM sqlite_master WHERE name = ?')
  const { page } = pages.get([table]) as { page: number }
  const [size] = database.prepare('PRAGMA page_size').all() as { page_size: number }[]
  database.close()
  const bytes = Buffer.alloc(size?.page_size ?? 0, 0xff)
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, (page - 1) * bytes.length)
  closeSync(file)
}
