import { isDeepStrictEqual } from 'node:util'
import { refuse } from '../../core/error/error.ts'
import type { Snapshot } from './database.ts'
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
  identities: ['issuer', 'subject'],
  user_groups: ['user_id', 'issuer'],
  groups: ['id'],
  group_owners: ['crate_id', 'group_id'],
  invitations: ['crate_id', 'user_id'],
  tombstones: ['crate_id', 'identity'],
  sessions: ['id'],
  password_links: ['hash'],
  tokens: ['id'],
  trust_rules: ['id'],
  trust_keys: ['issuer', 'key', 'rule_id'],
  trust_tokens: ['id'],
  trust_used: ['issuer', 'token'],
  trust_only: ['pattern'],
  upstream_allowed: ['upstream', 'crate', 'version'],
  deprecations: ['crate_id', 'requirement'],
  advisories: ['id'],
  advisory_crates: ['crate', 'advisory_id'],
  webhooks: ['name'],
  deliveries: ['id'],
  audit: ['id'],
  marks: ['kind', 'subject'],
  release_downloads: ['release_id'],
  crate_downloads: ['crate_id'],
  registry_downloads: ['day'],
  imported_logs: ['id'],
  dependents: ['dependency', 'dependent'],
  requirements: ['place', 'dependency', 'crate_id'],
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

/** Called with the table and the number of its copied rows. */
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

/** Keeps a state of the records beside them, as long as `from` is open: see `copyDifference`. */
export async function keepState(from: Snapshot): Promise<void> {
  for (const table of tables()) {
    const kept = `${BEFORE}${table}`
    await from.run(`CREATE TEMPORARY TABLE ${kept} AS SELECT * FROM ${table}`)
    await from.run(`CREATE UNIQUE INDEX ${kept}_key ON ${kept} (${TABLE_KEYS[table]})`)
    await from.run(`ANALYZE ${kept}`)
  }
}

/**
 * Brings what has changed since `keepState` to a copy of that state. The database of the records
 * finds it; what is written is compared, and of the rest the number. Returns the number of rows.
 */
export function copyDifference(
  { queries: from }: Snapshot,
  to: Queries,
  progress?: CopyProgress,
): Promise<number> {
  return withoutTriggers(to, async () => {
    // Removals come first: a new row may take the place of a removed one, and refer to other rows.
    for (const table of tables().reverse())
      for await (const rows of pagesOf(from, table, 'gone'))
        for (const row of rows)
          await run(to, `DELETE FROM ${table} WHERE ${keysOf(table, '=')}`, ...Object.values(row))
    let done = 0
    for (const table of tables()) {
      for await (const rows of pagesOf(from, table, 'changed')) await insertRows(to, table, rows)
      const count = `SELECT count(*) FROM ${table} WHERE ${filterOf(table)}`
      const rows = (await value<number>(from, count)) ?? 0
      if (rows !== (await value<number>(to, count))) refuse('migrate_differs', { table })
      done += rows
      progress?.(`comparing ${table}`, done, 0)
    }
    return done
  })
}

const BEFORE = 'before_'

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
    const setTriggers = async (to: 'DISABLE' | 'ENABLE') => {
      for (const table of tables()) await run(tx, `ALTER TABLE ${table} ${to} TRIGGER USER`)
    }
    await setTriggers('DISABLE')
    const result = await work()
    await setTriggers('ENABLE')
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

/** Leaves out values about this database: which daemons serve it, whether it takes changes. */
const OTHER_FACTS = `NOT (key >= 'daemon:' AND key < 'daemon:~')
  AND key NOT IN ('copy', 'moved', 'pause', 'probe')`

function filterOf(table: keyof Tables): string {
  return table === 'facts' ? OTHER_FACTS : 'true'
}

/**
 * Yields the rows of a table by ranges of keys of so many rows: all, those that are not equal in
 * the state that was kept, or the keys that are gone from there. `EXCEPT` sorts both sides of
 * a range: a server that guesses wrongly how many rows it has would join each with each.
 */
async function* pagesOf(
  db: Queries,
  table: keyof Tables,
  what: 'all' | 'changed' | 'gone' = 'all',
): AsyncGenerator<Row[]> {
  const keys = TABLE_KEYS[table]
  const names = [table, `${BEFORE}${table}`]
  const [name, other] = what === 'gone' ? names.reverse() : names
  const columns = what === 'gone' ? keys : '*'
  const most = table === 'releases' && what !== 'gone' ? RELEASES : ROWS
  let above: readonly Parameter[] | null = []
  while (above !== null) {
    const low: string = `${filterOf(table)} AND ${above.length > 0 ? keysOf(table, '>') : 'true'}`
    const end: Row | null = await first<Row>(
      db,
      `SELECT ${keys} FROM ${name} WHERE ${low} ORDER BY ${keys} LIMIT 1 OFFSET ${most - 1}`,
      ...above,
    )
    const bounds: Parameter[] = [...above, ...keys.flatMap(key => end?.[key] ?? [])]
    const range = `WHERE ${low} AND ${end ? keysOf(table, '<=') : 'true'}`
    const except = what === 'all' ? '' : `EXCEPT SELECT ${columns} FROM ${other} ${range}`
    const sql = `SELECT ${columns} FROM ${name} ${range} ${except} ORDER BY ${keys}`
    const rows = await all<Row>(db, sql, ...bounds, ...(what === 'all' ? [] : bounds))
    if (rows.length > 0) yield rows
    above = end && keys.map(key => end[key] ?? null)
  }
}

/** Inserts rows, or replaces those of their keys; refuses what is stored otherwise. */
async function insertRows(db: Queries, table: keyof Tables, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const places = `(${columns.map(() => '?')})`
  const keys = TABLE_KEYS[table]
  const others = columns.filter(column => !keys.includes(column))
  const set = others.map(column => `${column} = excluded.${column}`)
  const action = set.length > 0 ? `UPDATE SET ${set}` : 'NOTHING'
  const sql = `INSERT INTO ${table} (${columns}) VALUES ${rows.map(() => places)}
    ON CONFLICT (${keys}) DO ${action} RETURNING ${columns}`
  const values = rows.flatMap(row => columns.map(column => row[column] ?? null))
  if (!isDeepStrictEqual(rows, await all<Row>(db, sql, ...values)))
    refuse('migrate_differs', { table })
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
