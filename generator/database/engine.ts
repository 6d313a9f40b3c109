import { stat } from 'node:fs/promises'
import { one, type Queries } from './statement.ts'

/** Whether the records are on a PostgreSQL server; otherwise they are in a SQLite file. */
export function isOnServer(db: Queries): boolean {
  return db.engine === 'PostgreSQL'
}

const NEW_PAGE =
  'CREATE TABLE probe_room (n INTEGER); INSERT INTO probe_room VALUES (1); DROP TABLE probe_room'

/** Fails if a server cannot write one more page; an update of pages that are there would not. */
export async function probeRoom(db: Queries): Promise<void> {
  if (isOnServer(db)) await db.execute(NEW_PAGE, [])
}

/** The clock of the server, the same for all: milliseconds since 1970. */
const NOW = 'SELECT CAST(1000 * extract(epoch FROM clock_timestamp()) AS bigint) AS now'

/** Returns the time in milliseconds since 1970, the same for all who use a database. */
export async function databaseTime(db: Queries): Promise<number> {
  return isOnServer(db) ? (await one<{ now: number }>(db, NOW)).now : Date.now()
}

/** The engine that keeps the records. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL'
  readonly version: string
  readonly bytes: number
}

/** Returns the engine of the records; `file` has them if there is no server. */
export async function readEngine(db: Queries, file: string): Promise<Engine> {
  if (isOnServer(db)) {
    const sql = `SELECT current_setting('server_version') AS version,
      pg_database_size(current_database()) AS bytes`
    return { name: 'PostgreSQL', ...(await one<Omit<Engine, 'name'>>(db, sql)) }
  }
  const sql = 'SELECT sqlite_version() AS version'
  const { version } = await one<Pick<Engine, 'version'>>(db, sql)
  return { name: 'SQLite', version, bytes: (await stat(file)).size }
}
