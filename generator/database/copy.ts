import { isDeepStrictEqual } from 'node:util'
import { refuse } from '../../core/error/error.ts'
import { isOnServer } from './engine.ts'
import { all, first, type Parameter, type Queries, run, value } from './statement.ts'
import type { Tables } from './tables.ts'

/**
 * Every table that is copied, with its primary key, in an order in which each row follows those it
 * refers to. Each database has its own rate limits and schema record.
 */
export const TABLE_KEYS: Readonly<Record<keyof Tables, readonly string[]>> = {
  crates: ['id'],
  users: ['id'],
  former_logins: ['canonical'],
  releases: ['id'],
  owners: ['crate_id', 'user_id'],
  invitations: ['crate_id', 'user_id'],
  tombstones: ['crate_id', 'identity'],
  sessions: ['id'],
  password_links: ['hash'],
  tokens: ['id'],
  upstream_allowed: ['upstream', 'crate', 'version'],
  audit: ['id'],
  marks: ['kind', 'subject'],
  release_downloads: ['release_id'],
  crate_downloads: ['crate_id'],
  registry_downloads: ['day'],
  imported_logs: ['id'],
  dependents: ['dependency', 'dependent'],
  listings: ['crate_id'],
  labels: ['id'],
  crate_labels: ['label_id', 'weight', 'crate_id'],
  prefixes: ['prefix'],
  search_crates: ['crate_id'],
  search_terms: ['shard', 'term'],
  counts: ['what'],
  facts: ['key'],
}

/** How many rows are in memory at once; a release may have a README of a megabyte. */
const ROWS = 1000
const RELEASES = 100

type Row = Readonly<Record<string, string | number | null>>

/** Told of the table that is copied, and how many rows were. */
export type CopyProgress = (step: string, done: number, total: number) => void

/**
 * Makes a database, on the same engine or another, a copy of the records. `from` does not change
 * meanwhile, and `to` is a transaction. Returns the number of rows.
 */
export function copyCatalog(from: Queries, to: Queries, progress?: CopyProgress): Promise<number> {
  return withoutTriggers(to, async () => {
    // A newer version may have expanded one of them: it knows what to copy.
    const last = 'SELECT max(name) FROM kysely_migration'
    if ((await value(from, last)) !== (await value(to, last))) refuse('migrate_newer')
    // A new database has rows, too, and the one of a copy that was stopped has some of all.
    if (isOnServer(to)) await run(to, `TRUNCATE ${tables()}`)
    else for (const table of tables().reverse()) await run(to, `DELETE FROM ${table}`)
    let done = 0
    for (const table of tables()) {
      for await (const rows of pagesOf(from, table)) {
        await insertRows(to, table, rows)
        done += rows.length
        progress?.(`copying ${table}`, done, 0)
      }
    }
    return done
  })
}

/** Returns whether a database has no records. */
export async function isEmpty(db: Queries): Promise<boolean> {
  for (const table of ['crates', 'users', 'audit'] as const)
    if (await first(db, `SELECT id FROM ${table} LIMIT 1`)) return false
  return true
}

/**
 * Makes a copy of the records that was made before equal to them: reads both, and writes only what
 * differs. `from` does not change meanwhile, and `to` is a transaction. Returns the number of rows,
 * all compared.
 */
export function copyDifference(
  from: Queries,
  to: Queries,
  progress?: CopyProgress,
): Promise<number> {
  return withoutTriggers(to, async () => {
    // First: what is new may have the place of what is gone, and refer to other rows.
    for (const table of tables().reverse())
      for await (const [rows, copied] of ranges(from, to, table, `${TABLE_KEYS[table]}`)) {
        const keys = new Set(rows.map(row => JSON.stringify(row)))
        for (const row of copied.filter(row => !keys.has(JSON.stringify(row))))
          await run(to, `DELETE FROM ${table} WHERE ${keysOf(table, '=')}`, ...Object.values(row))
      }
    let done = 0
    for (const table of tables())
      for await (const [rows, copied, again] of ranges(from, to, table)) {
        if (!isDeepStrictEqual(rows, copied)) {
          await insertRows(to, table, rows, true)
          if (!isDeepStrictEqual(rows, await again())) refuse('migrate_differs', { table })
        }
        done += rows.length
        progress?.(`comparing ${table}`, done, 0)
      }
    return done
  })
}

type Range = readonly [rows: Row[], copied: Row[], again: () => Promise<Row[]>]

/** Yields the rows of a table page by page, with those of its copy between the same keys. */
async function* ranges(
  from: Queries,
  to: Queries,
  table: keyof Tables,
  columns = '*',
): AsyncGenerator<Range> {
  const keys = TABLE_KEYS[table]
  const where = table === 'facts' ? OTHER_FACTS : 'true'
  const sql = `SELECT ${columns} FROM ${table} WHERE ${where}`
  let above: readonly Parameter[] = []
  for await (const rows of pagesOf(from, table, columns)) {
    const last = keys.map(key => rows.at(-1)?.[key] ?? null)
    const low = above.length > 0 ? ` AND ${keysOf(table, '>')}` : ''
    const range = `${sql}${low} AND ${keysOf(table, '<=')} ORDER BY ${keys}`
    const parameters = [...above, ...last]
    const read = () => all<Row>(to, range, ...parameters)
    yield [rows, await read(), read]
    above = last
  }
  const low = above.length > 0 ? ` AND ${keysOf(table, '>')}` : ''
  const read = () => all<Row>(to, `${sql}${low} ORDER BY ${keys}`, ...above)
  yield [[], await read(), read]
}

function keysOf(table: keyof Tables, operator: string): string {
  const keys = TABLE_KEYS[table]
  return `(${keys}) ${operator} (${keys.map(() => '?')})`
}

/**
 * Runs work in a transaction without the triggers of its database: what they derive is copied. Each
 * row would change a count, which PostgreSQL keeps in all its states until the end.
 */
async function withoutTriggers<T>(tx: Queries, work: () => Promise<T>): Promise<T> {
  if (isOnServer(tx)) {
    const turn = async (to: 'DISABLE' | 'ENABLE') => {
      for (const table of tables()) await run(tx, `ALTER TABLE ${table} ${to} TRIGGER USER`)
    }
    await turn('DISABLE')
    const result = await work()
    await turn('ENABLE')
    return result
  }
  const query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
  const triggers = await all<{ readonly name: string; readonly sql: string }>(tx, query)
  for (const { name } of triggers) await run(tx, `DROP TRIGGER ${name}`)
  const result = await work()
  for (const { sql } of triggers) await run(tx, sql)
  return result
}

function tables(): (keyof Tables)[] {
  return Object.keys(TABLE_KEYS) as (keyof Tables)[]
}

/** Leaves out what is about this database: who serves it, whether it takes changes. */
const OTHER_FACTS = `NOT (key >= 'daemon:' AND key < 'daemon:~')
  AND key NOT IN ('copy', 'moved', 'pause', 'probe')`

async function* pagesOf(db: Queries, table: keyof Tables, columns = '*'): AsyncGenerator<Row[]> {
  const keys = TABLE_KEYS[table]
  const limit = table === 'releases' ? RELEASES : ROWS
  const order = `ORDER BY ${keys} LIMIT ${limit}`
  const where = table === 'facts' ? OTHER_FACTS : 'true'
  const sql = `SELECT ${columns} FROM ${table} WHERE ${where}`
  const next = `${sql} AND ${keysOf(table, '>')} ${order}`
  let rows = await all<Row>(db, `${sql} ${order}`)
  while (rows.length > 0) {
    yield rows
    const last = rows.at(-1)
    if (rows.length < limit) return
    rows = await all<Row>(db, next, ...keys.map(key => last?.[key] ?? null))
  }
}

async function insertRows(
  db: Queries,
  table: keyof Tables,
  rows: readonly Row[],
  isOver = false,
): Promise<void> {
  if (rows.length === 0) return
  const columns = Object.keys(rows[0] ?? {})
  const places = `(${columns.map(() => '?')})`
  const keys = TABLE_KEYS[table]
  const others = columns.filter(column => !keys.includes(column))
  const set = others.map(column => `${column} = excluded.${column}`)
  const action = set.length > 0 ? `UPDATE SET ${set}` : 'NOTHING'
  const over = isOver ? ` ON CONFLICT (${keys}) DO ${action}` : ''
  const sql = `INSERT INTO ${table} (${columns}) VALUES ${rows.map(() => places)}${over}`
  const values = rows.flatMap(row => columns.map(column => row[column] ?? null))
  await run(db, sql, ...values)
}

/** Lets new ids follow those that were copied; SQLite does so itself. */
export async function continueIds(db: Queries): Promise<void> {
  if (!isOnServer(db)) return
  const hasIds = (table: keyof Tables) => TABLE_KEYS[table][0] === 'id' && table !== 'labels'
  for (const table of tables().filter(hasIds))
    await run(
      db,
      `SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id))
        FROM ${table} HAVING max(id) IS NOT NULL`,
    )
}
