import { refuse } from '../../../../core/error/error.ts'
import {
  insertRows,
  isOwnFact,
  type Row,
  TABLE_KEYS,
  tables,
  textOf,
  withoutTriggers,
} from '../copy.ts'
import { all, type Queries, run } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { changedKeys, type Key } from './changed-rows.ts'

type Table = keyof Tables

/** Tables to whose rows others refer: such a row is changed in its place. */
const REFERRED: readonly Table[] = ['crates', 'users', 'releases', 'tokens']

/** How many rows are compared at once, and how many are written. */
const ROWS = 200
const WRITTEN = 20

/** The columns of keys that are texts; all others are numbers. */
const TEXTS = new Set([
  'kind',
  'what',
  'key',
  'hash',
  'prefix',
  'dependency',
  'dependent',
  'identity',
])

/** Marks whose subject is a release. */
const OF_RELEASES = ['file', 'release']

/**
 * Makes a copy of the records equal to the records at the rows that were changed after a noted
 * change, and compares them. `from` does not change meanwhile, `to` is a transaction, and the copy
 * was equal at that change. Marks are added, and none is removed: the copy's public tree may be one
 * that was copied before the work of a mark was done. Returns the number of rows.
 */
export async function applyChanges(from: Queries, to: Queries, after: number): Promise<number> {
  const changed = new Map<Table, readonly Key[][]>()
  let count = 0
  for (const table of tables()) {
    const keys = (await changedKeys(from, table, after)).filter(
      ([key]) => table !== 'facts' || !isOwnFact(String(key)),
    )
    if (keys.length > 0) changed.set(table, chunks(keys, ROWS))
    count += keys.length
  }
  if (count === 0) return 0
  await withoutTriggers(to, async () => {
    const order = [...changed]
    // First what is gone, or takes another row's place, then what refers to nothing missing.
    for (const [table, parts] of order.toReversed())
      for (const keys of parts) await removeRows(from, to, table, keys)
    for (const [table, parts] of order)
      for (const keys of parts) await writeRows(from, to, table, keys)
  })
  return count
}

async function removeRows(
  from: Queries,
  to: Queries,
  table: Table,
  keys: readonly Key[],
): Promise<void> {
  if (table === 'marks') return
  const [ours, theirs] = [await rowsAt(from, table, keys), await rowsAt(to, table, keys)]
  const isLeft = ([key, row]: readonly [string, Row]) => {
    const our = ours.get(key)
    return our !== undefined && (REFERRED.includes(table) || textOf([our]) === textOf([row]))
  }
  const gone = [...theirs].filter(one => !isLeft(one)).map(([, row]) => keyOf(table, row))
  if (gone.length === 0) return
  const columns = TABLE_KEYS[table]
  const values = columns.map((column, at) => jsonValue(column, at, 'value'))
  const text = `DELETE FROM ${table} WHERE (${columns}) IN
    (SELECT ${values} FROM json_each(?) AS changed)`
  await run(to, text, gone)
}

async function writeRows(
  from: Queries,
  to: Queries,
  table: Table,
  keys: readonly Key[],
): Promise<void> {
  const ours = await rowsAt(from, table, keys)
  if (table === 'marks') await keepMarks(to, keys, ours)
  const theirs = await rowsAt(to, table, keys)
  const differ = [...ours]
    .filter(([key, row]) => textOf([row]) !== textOf(asRows(theirs.get(key))))
    .map(([, row]) => row)
  const columns = Object.keys(differ[0] ?? {})
  const set = columns
    .filter(column => !TABLE_KEYS[table].includes(column))
    .map(column => `${column} = excluded.${column}`)
  const then = `ON CONFLICT (${TABLE_KEYS[table]}) DO
    ${set.length > 0 ? `UPDATE SET ${set}` : 'NOTHING'}`
  for (const rows of chunks(differ, WRITTEN)) {
    // Few texts of statements: of one row, or of many.
    const groups = rows.length === WRITTEN ? [rows] : rows.map(row => [row])
    for (const group of groups) await insertRows(to, table, group, then)
  }
  if (table === 'marks') return
  const written = await rowsAt(to, table, keys)
  for (const key of new Set([...ours.keys(), ...written.keys()]))
    if (textOf(asRows(ours.get(key))) !== textOf(asRows(written.get(key))))
      refuse('migrate_differs', { table })
}

/** Keeps marks, or sets them, whose work was done for the public tree of the records. */
async function keepMarks(
  to: Queries,
  keys: readonly Key[],
  ours: ReadonlyMap<string, Row>,
): Promise<void> {
  const done = keys.filter(key => !ours.has(JSON.stringify(key)))
  // The first generation: whatever renders it clears it.
  const text = `INSERT INTO marks (kind, subject, generation)
    SELECT value ->> 0, CAST(value ->> 1 AS INTEGER), 1
    FROM json_each(?) AS changed WHERE true ON CONFLICT DO NOTHING`
  if (done.length > 0) await run(to, text, done)
  await run(
    to,
    `DELETE FROM marks WHERE kind IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM releases WHERE releases.id = marks.subject)`,
    OF_RELEASES,
  )
}

/** Returns the rows that there are of some keys, by their keys in JSON. */
async function rowsAt(
  db: Queries,
  table: Table,
  keys: readonly Key[],
): Promise<ReadonlyMap<string, Row>> {
  const conditions = TABLE_KEYS[table].map(
    (column, at) => `${table}.${column} = ${jsonValue(column, at, 'changed.value')}`,
  )
  const text = `SELECT ${table}.* FROM json_each(?) AS changed
    CROSS JOIN ${table} ON ${conditions.join(' AND ')}`
  const rows = await all<Row>(db, text, keys)
  return new Map(rows.map(row => [JSON.stringify(keyOf(table, row)), row]))
}

/** Returns the SQL of a column's value in a key in JSON. */
function jsonValue(column: string, at: number, json: string): string {
  return TEXTS.has(column) ? `(${json} ->> ${at})` : `CAST(${json} ->> ${at} AS INTEGER)`
}

function keyOf(table: Table, row: Row): Key {
  return TABLE_KEYS[table].map(column => row[column] as string | number)
}

function asRows(row: Row | undefined): readonly Row[] {
  return row === undefined ? [] : [row]
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size))
  return parts
}
