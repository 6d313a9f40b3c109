import { refuse } from '../../../core/error/error.ts'
import { isOnServer } from './engine.ts'
import { all, column, first, type Queries, run } from './statement.ts'
import type { Tables } from './tables.ts'

/**
 * Every table that is copied, with its primary key, in an order in which each row follows those it
 * refers to.
 */
export const TABLE_KEYS: Readonly<Record<keyof Tables, readonly string[]>> = {
  crates: ['id'],
  users: ['id'],
  releases: ['id'],
  owners: ['crate_id', 'user_id'],
  invitations: ['crate_id', 'user_id'],
  tombstones: ['crate_id', 'identity'],
  sessions: ['id'],
  password_links: ['hash'],
  tokens: ['id'],
  audit: ['id'],
  marks: ['kind', 'subject'],
  plain_pages: ['release_id', 'what'],
  release_downloads: ['release_id'],
  crate_downloads: ['crate_id'],
  registry_downloads: ['day'],
  imported_logs: ['id'],
  dependents: ['dependency', 'dependent'],
  listings: ['crate_id'],
  labels: ['id'],
  crate_labels: ['label_id', 'weight', 'crate_id'],
  prefixes: ['prefix'],
  terms: ['id'],
  postings: ['term_id', 'rank', 'crate_id'],
  blocks: ['term_id', 'block', 'class'],
  crate_bytes: ['block'],
  shelves: ['term_id', 'shelf'],
  weeks: ['week'],
  counts: ['what'],
  facts: ['key'],
}

/** Tables that are not copied: each database has its own, and rate limits last for a minute. */
export const OWN_TABLES = ['rate_limits', 'schema_record'] as const

/** Tables in which a new catalog, or its triggers, already have rows. */
const REPLACED: readonly (keyof Tables)[] = ['weeks', 'counts', 'facts']

/** How many rows are in memory at once; a release may have a README of a megabyte. */
const ROWS = 500
const RELEASES = 50

/** A row with all its columns. */
export type Row = Readonly<Record<string, unknown>>

/** Told of the table that is copied, and how many rows were. */
export type CopyProgress = (step: string, done: number, total: number) => void

/**
 * Copies all records of a catalog into a new one, on the same engine or another. `from` does not
 * change meanwhile, and `to` is a transaction. Refuses a catalog that is not new. Returns the
 * number of rows.
 */
export function copyCatalog(from: Queries, to: Queries, progress?: CopyProgress): Promise<number> {
  return withoutTriggers(to, async () => {
    await requireEmpty(to)
    // A newer version may have expanded one of them: it knows what to copy.
    const steps = 'SELECT name FROM kysely_migration ORDER BY name'
    if (String(await column(from, steps)) !== String(await column(to, steps)))
      refuse('migrate_newer')
    let done = 0
    for (const table of tables()) {
      if (REPLACED.includes(table)) await run(to, `DELETE FROM ${table}`)
      for await (const rows of pagesOf(from, table)) {
        await insertRows(to, table, rows)
        done += rows.length
        progress?.(`copying ${table}`, done, 0)
      }
    }
    return done
  })
}

/** Refuses a catalog that has records. */
export async function requireEmpty(db: Queries): Promise<void> {
  for (const table of ['crates', 'users', 'audit'] as const)
    if (await first(db, `SELECT id FROM ${table} LIMIT 1`)) refuse('migrate_not_empty')
}

/** Compares all records of two catalogs but their marks; returns their number. */
export async function compareCatalogs(
  from: Queries,
  to: Queries,
  progress?: CopyProgress,
): Promise<number> {
  let done = 0
  for (const table of tables()) {
    const [ours, theirs] = [pagesOf(from, table), pagesOf(to, table)]
    for (;;) {
      const [our, their] = [await ours.next(), await theirs.next()]
      if (our.done && their.done) break
      // The copy has those, too, whose work is done where it was copied from.
      if (table === 'marks') continue
      if (textOf(our.value) !== textOf(their.value)) refuse('migrate_differs', { table })
      done += our.value?.length ?? 0
      progress?.(`comparing ${table}`, done, 0)
    }
  }
  return done
}

/**
 * Runs work in a transaction without the triggers of its database: what they derive is copied. Each
 * row would change a count, which PostgreSQL keeps in all its states until the end.
 */
export async function withoutTriggers<T>(tx: Queries, work: () => Promise<T>): Promise<T> {
  if (isOnServer(tx)) {
    const turn = async (to: 'DISABLE' | 'ENABLE') => {
      for (const table of tables()) await run(tx, `ALTER TABLE ${table} ${to} TRIGGER USER`)
    }
    await turn('DISABLE')
    const result = await work()
    await turn('ENABLE')
    return result
  }
  const text = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
  const triggers = await all<{ readonly name: string; readonly sql: string }>(tx, text)
  for (const { name } of triggers) await run(tx, `DROP TRIGGER ${name}`)
  const result = await work()
  for (const { sql } of triggers) await run(tx, sql)
  return result
}

/** Returns the names of all tables, each after those that its rows refer to. */
export function tables(): (keyof Tables)[] {
  return Object.keys(TABLE_KEYS) as (keyof Tables)[]
}

/** The facts of daemons that serve from a database are not those of another one. */
const OWN_FACTS = "NOT (key >= 'daemon:' AND key < 'daemon:~')"

/** Returns whether a fact is about a daemon that serves from this database. */
export function isOwnFact(key: string): boolean {
  return key.startsWith('daemon:')
}

/** Yields the rows of a table in the order of its key. */
async function* pagesOf(db: Queries, table: keyof Tables): AsyncGenerator<Row[]> {
  const keys = TABLE_KEYS[table]
  const limit = table === 'releases' ? RELEASES : ROWS
  const order = `ORDER BY ${keys} LIMIT ${limit}`
  const where = table === 'facts' ? OWN_FACTS : 'true'
  const after = `(${keys}) > (${keys.map(() => '?')})`
  const next = `SELECT * FROM ${table} WHERE ${after} AND ${where} ${order}`
  let rows = await all<Row>(db, `SELECT * FROM ${table} WHERE ${where} ${order}`)
  while (rows.length > 0) {
    yield rows
    const last = rows.at(-1)
    if (rows.length < limit) return
    rows = await all<Row>(db, next, ...keys.map(key => last?.[key] as string | number))
  }
}

/** Inserts rows; what follows `VALUES` in `then` says what becomes of those that are there. */
export async function insertRows(
  db: Queries,
  table: keyof Tables,
  rows: readonly Row[],
  then = '',
): Promise<void> {
  if (!isOnServer(db)) refuseNul(table, rows)
  const columns = Object.keys(rows[0] ?? {})
  const places = `(${columns.map(() => '?')})`
  const text = `INSERT INTO ${table} (${columns}) VALUES ${rows.map(() => places)} ${then}`
  const values = rows.flatMap(row => columns.map(column => parameterOf(row[column])))
  await run(db, text, ...values)
}

/** Refuses texts that libsql would return only up to their first U+0000. */
function refuseNul(table: keyof Tables, rows: readonly Row[]): void {
  for (const row of rows)
    for (const [column, text] of Object.entries(row))
      if (typeof text === 'string' && text.includes('\0'))
        refuse('migrate_nul', { table, column, row: TABLE_KEYS[table].map(key => row[key]).join() })
}

function parameterOf(value: unknown): string | number | null | Uint8Array {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as string | number | null)
}

/** Lets new ids follow those that were copied; SQLite does so itself. */
export async function continueIds(db: Queries): Promise<void> {
  for (const table of tables().filter(one => TABLE_KEYS[one][0] === 'id' && one !== 'labels'))
    await run(
      db,
      `SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id))
        FROM ${table} HAVING max(id) IS NOT NULL`,
    )
}

/** Returns rows as text, whatever the order of their columns. */
export function textOf(rows: readonly Row[] | undefined): string {
  const plain = (value: unknown) =>
    value instanceof ArrayBuffer ? Buffer.from(value).toString('base64') : value
  return JSON.stringify(
    rows?.map(row =>
      Object.keys(row)
        .sort()
        .map(column => [column, plain(row[column])]),
    ),
  )
}
