// generator/database: SQL on SQLite and PostgreSQL, and the schema. records/ and others call it; it
// knows no rule of crates.
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { damage } from '../places/disk/damage.ts'
import { createPrivately, syncFile } from '../places/disk/durable.ts'
import { openSqlite } from '../places/disk/sqlite-file.ts'
import type { Database } from './connection.ts'
import { type BeforeUpgrade, migrate, type SchemaOwner } from './migrations.ts'
import { SqliteDatabase, WalSync } from './sqlite.ts'
import { type Queries, value } from './statement.ts'

/**
 * Opens the SQLite database at `path`, creating and migrating it as needed. A finished transaction
 * survives a power cut. Only its owner can read a new file: it contains password hashes. Other
 * processes may use the same file; a writer waits up to 10 s for another one.
 */
export async function openDatabase(
  path: string,
  owner?: SchemaOwner,
  beforeUpgrade?: BeforeUpgrade,
): Promise<Database> {
  mkdirSync(dirname(path), { recursive: true })
  createPrivately(path)
  let database: SqliteDatabase
  try {
    database = connect(path)
  } catch (error) {
    throw await damage.explain(path, error)
  }
  try {
    await migrate(database, path, owner, beforeUpgrade)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

function connect(path: string): SqliteDatabase {
  const writer = openSqlite(path)
  // SQLite itself waits only while it opens, which blocks the process; later the driver waits.
  writer.exec('PRAGMA busy_timeout = 10000')
  const { journal_mode: mode } = writer.prepare('PRAGMA journal_mode = WAL').get() as Row
  // Some network file systems do not support a WAL. With a WAL, SQLite keeps the file consistent
  // and `WalSync` makes each commit durable.
  const wal = mode === 'wal' ? new WalSync(path) : null
  wal?.begin()
  writer.exec(`PRAGMA synchronous = ${wal ? 'NORMAL' : 'FULL'}`)
  writer.exec('PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 0')
  return new SqliteDatabase(path, writer, openSqlite(path), wal)
}

/** Opens a database that only this process uses, and which a kill or a power cut may spoil. */
export async function openAlone(path: string): Promise<Database> {
  mkdirSync(dirname(path), { recursive: true })
  const handle = openSqlite(path)
  handle.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA foreign_keys = ON')
  // One lock for all statements: taking it for each one costs as much as a small one itself.
  handle.exec('PRAGMA locking_mode = EXCLUSIVE')
  const database = new SqliteDatabase(path, handle, handle)
  await migrate(database, path)
  return database
}

/** Closes a database of `openAlone`: libsql itself closes only when it collects the statements. */
export async function closeAlone(database: Database): Promise<void> {
  await database.execute('PRAGMA locking_mode = NORMAL', [])
  await value(database, 'SELECT count(*) FROM sqlite_master')
  await database.close()
}

/** Closes a SQLite database, complete without its log and synced; throws when others use it. */
export async function closeWhole(database: Database, path: string): Promise<void> {
  if ((await value<number>(database, 'PRAGMA wal_checkpoint(TRUNCATE)')) !== 0)
    throw new Error(`${path} is in use`)
  await database.close()
  // libsql closes later, when the last statement is collected, and would remove them only then.
  for (const end of ['-wal', '-shm']) await rm(`${path}${end}`, { force: true })
  await syncFile(path)
}

/** Reads states of the records that do not change while others go on writing. */
export interface Snapshot {
  readonly queries: Queries
  /** Does work on the records as they are when it begins. */
  during<T>(work: () => Promise<T>): Promise<T>
  /** Executes a statement about what is temporary, and ends with it. */
  run(sql: string): Promise<void>
  close(): Promise<void>
}

/** Opens the SQLite database at `path` for reading only; what is temporary is in its folder. */
export function openSnapshot(path: string): Snapshot {
  const [reader, writer] = [openSqlite(path), openSqlite(path)]
  reader.exec(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`)
  const queries = new SqliteDatabase(path, writer, reader)
  return {
    queries,
    during: async work => {
      reader.exec('BEGIN')
      // The transaction begins with its first read.
      reader.prepare('SELECT count(*) FROM sqlite_master').all()
      const result = await work()
      reader.exec('COMMIT')
      return result
    },
    run: async sql => {
      reader.exec(sql)
    },
    close: async () => {
      // Closing is not enough: libsql closes after the last statement is collected.
      if (reader.inTransaction) reader.exec('ROLLBACK')
      await queries.close()
    },
  }
}

type Row = Readonly<Record<'journal_mode', string>>
