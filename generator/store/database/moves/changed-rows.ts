import { CLOSED } from '../../storage-fault.ts'
import { TABLE_KEYS, tables } from '../copy.ts'
import { isOnServer } from '../engine.ts'
import { column, type Queries, run, value } from '../statement.ts'
import type { Tables } from '../tables.ts'

type Table = keyof Tables

/** Columns that change when something is only used, also where nothing else may change. */
const USE: Partial<Record<Table, string>> = {
  tokens: 'last_used_at',
  sessions: 'last_seen_at',
}

/**
 * Tables of a daemon's own work, which goes on where nothing else may change. It includes what
 * searches read, which follows the changes of records a moment later.
 */
const OF_DAEMONS: ReadonlySet<Table> = new Set([
  'facts',
  'marks',
  'listings',
  'counts',
  'terms',
  'postings',
  'blocks',
  'shelves',
  'crate_bytes',
])

/** A trigger that notes changed rows; `isClosing` says whether it refuses changes later. */
interface Noting {
  readonly name: string
  readonly sql: string
  readonly isClosing: boolean
}

/** Has every change of a record noted from now on, by triggers. Call it in a transaction. */
export async function noteChangedRows(tx: Queries): Promise<void> {
  await run(
    tx,
    `CREATE TABLE changed_rows (
      id INTEGER PRIMARY KEY AUTOINCREMENT, tab TEXT NOT NULL, key TEXT NOT NULL)`,
  )
  for (const { sql } of notings()) await run(tx, sql)
}

/** Refuses every further change of a record; a daemon's own work goes on. */
export async function closeRecords(tx: Queries): Promise<void> {
  for (const { name, isClosing } of notings()) if (!isClosing) await dropTrigger(tx, name)
  await run(tx, 'DELETE FROM changed_rows')
  await run(
    tx,
    `CREATE TRIGGER changed_rows_closed AFTER INSERT ON changed_rows
      BEGIN SELECT RAISE(ABORT, '${CLOSED}'); END`,
  )
}

/** Notes nothing any more and refuses nothing. */
export async function forgetChangedRows(tx: Queries): Promise<void> {
  for (const { name } of notings()) await dropTrigger(tx, name)
  await dropTrigger(tx, 'changed_rows_closed')
  await run(tx, 'DROP TABLE changed_rows')
}

/** Returns the number of the last noted change; null when none is noted. */
export function lastChangedRow(db: Queries): Promise<number | null> {
  return value(db, 'SELECT max(id) FROM changed_rows')
}

/** Counts the changes that were noted after one. */
export async function countChangedRows(db: Queries, after: number): Promise<number> {
  return (await value<number>(db, 'SELECT count(*) FROM changed_rows WHERE id > ?', after)) ?? 0
}

/** Returns the keys of the rows of a table that have changed after a noted change. */
export async function changedKeys(db: Queries, table: Table, after: number): Promise<Key[]> {
  const text = 'SELECT DISTINCT key FROM changed_rows WHERE tab = ? AND id > ?'
  return (await column<string>(db, text, table, after)).map(key => JSON.parse(key) as Key)
}

/** The values of a primary key. */
export type Key = readonly (string | number)[]

/** Removes what was noted up to a change. */
export async function dropChangedRows(db: Queries, upTo: number): Promise<void> {
  await run(db, 'DELETE FROM changed_rows WHERE id <= ?', upTo)
}

function notings(): Noting[] {
  return tables().flatMap(table => {
    const keyOf = (row: 'OLD' | 'NEW') => TABLE_KEYS[table].map(key => `${row}.${key}`)
    const insert = `INSERT INTO changed_rows (tab, key)`
    const row = (row: 'OLD' | 'NEW') => `${insert} VALUES ('${table}', json_array(${keyOf(row)}));`
    const [old, now] = [row('OLD'), row('NEW')]
    const moved = `${insert} SELECT '${table}', json_array(${keyOf('OLD')})
      WHERE (${keyOf('OLD')}) <> (${keyOf('NEW')});`
    const isClosing = !OF_DAEMONS.has(table)
    const noting = (what: string, event: string, body: string): Noting => {
      const name = `changed_${table}_${what}`
      return { name, sql: `CREATE TRIGGER ${name} AFTER ${event} BEGIN ${body} END`, isClosing }
    }
    const use = USE[table]
    const isSame = `WHEN coalesce(OLD.${use}, '') = coalesce(NEW.${use}, '')`
    return [
      noting('insert', `INSERT ON ${table}`, now),
      noting('delete', `DELETE ON ${table}`, old),
      noting('update', `UPDATE ON ${table}${use ? ` ${isSame}` : ''}`, `${now} ${moved}`),
      ...(use ? [{ ...noting('use', `UPDATE OF ${use} ON ${table}`, now), isClosing: false }] : []),
    ]
  })
}

async function dropTrigger(tx: Queries, name: string): Promise<void> {
  // On a server, each trigger has a function of its name.
  await run(
    tx,
    isOnServer(tx) ? `DROP FUNCTION IF EXISTS ${name} CASCADE` : `DROP TRIGGER IF EXISTS ${name}`,
  )
}
