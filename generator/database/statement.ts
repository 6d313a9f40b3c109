import { Refusal, refuse } from '../../core/error/error.ts'
import type { Tables } from './tables.ts'

/** The result of a statement. */
export interface Result {
  readonly rows: unknown[]
  readonly changes: number
}

/** The database, or a transaction in it. */
export interface Queries {
  readonly engine: 'SQLite' | 'PostgreSQL'
  /** Executes a statement in SQLite's dialect; `?` stands for a parameter. */
  execute(sql: string, parameters: readonly unknown[]): Promise<Result>
}

/** A row of a table as a statement reads it: `Pick` the columns that it selects. */
export type Row<Table extends keyof Tables> = Tables[Table]

/** Columns that the schema fills in. */
type Filled = 'id' | 'attempts' | 'dependents' | 'machine'

/** A row to be inserted: what may be NULL, or is filled in, may be left out. */
export type NewRow<Table extends keyof Tables> = Partial<Tables[Table]> & {
  [Column in keyof Tables[Table] as Column extends Filled
    ? never
    : null extends Tables[Table][Column]
      ? never
      : Column]: Tables[Table][Column]
}

/** A list as one parameter: `IN ${LIST}`. */
export const LIST = '(SELECT value FROM json_each(?))'

/** A value for a `?`. A list becomes a JSON array, for `json_each(?)`. */
export type Parameter = string | number | null | readonly unknown[]

/** A condition in a statement, and its parameters. */
export interface Condition {
  readonly sql: string
  readonly values: readonly string[]
}

/** Returns the rows of a statement; its text must be constant, by which it is kept prepared. */
export async function all<R>(db: Queries, sql: string, ...parameters: Parameter[]): Promise<R[]> {
  return (await execute(db, sql, parameters)).rows as R[]
}

/** Returns the first row of a statement; null when there is none. */
export async function first<R>(
  db: Queries,
  sql: string,
  ...parameters: Parameter[]
): Promise<R | null> {
  return (await all<R>(db, sql, ...parameters))[0] ?? null
}

/** Returns the row of a statement that always has exactly one; throws when there is none. */
export async function one<R>(db: Queries, sql: string, ...parameters: Parameter[]): Promise<R> {
  const row = await first<R>(db, sql, ...parameters)
  if (row === null) throw new Error(`no row: ${sql}`)
  return row
}

/** Returns the values of a statement's only column. */
export async function column<T>(
  db: Queries,
  sql: string,
  ...parameters: Parameter[]
): Promise<T[]> {
  const rows = await all<Record<string, T>>(db, sql, ...parameters)
  return rows.flatMap(row => Object.values(row))
}

/** Returns the only column of the first row; null for NULL and when there is no row. */
export async function value<T>(
  db: Queries,
  sql: string,
  ...parameters: Parameter[]
): Promise<T | null> {
  return (await column<T>(db, sql, ...parameters))[0] ?? null
}

/** Executes a statement that returns no rows; returns the number of changed rows. */
export async function run(db: Queries, sql: string, ...parameters: Parameter[]): Promise<number> {
  return (await execute(db, sql, parameters)).changes
}

/** Does work whose error undoes its own changes alone; throws if the whole transaction is lost. */
export async function attempt<T>(
  tx: Queries,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly error: unknown }> {
  await run(tx, 'SAVEPOINT attempt')
  try {
    const value = await work()
    await run(tx, 'RELEASE attempt')
    return { value }
  } catch (error) {
    await run(tx, 'ROLLBACK TO attempt').catch(lost => {
      // A refusal of this work is nothing to others whose work is lost with the connection.
      throw lost instanceof Refusal ? lost : error
    })
    await run(tx, 'RELEASE attempt')
    return { error }
  }
}

/** Inserts a row into a table whose key is `id`; returns its id. */
export async function insert<Table extends keyof Tables>(
  db: Queries,
  table: Table,
  row: NewRow<Table>,
): Promise<number> {
  const sql = `${insertSql(table, row)} RETURNING id`
  return (await one<{ id: number }>(db, sql, ...(Object.values(row) as Parameter[]))).id
}

/** Inserts rows in one statement; `conflict` says what becomes of a row that is there. */
export async function insertAll<Table extends keyof Tables>(
  db: Queries,
  table: Table,
  rows: readonly NewRow<Table>[],
  conflict = '',
): Promise<void> {
  const columns = Object.entries(rows[0] ?? {})
  if (columns.length === 0) return
  const values = columns.map(([name, value]) =>
    typeof value === 'number' ? `CAST(value ->> '${name}' AS INTEGER)` : `value ->> '${name}'`,
  )
  const sql = `INSERT INTO ${table} (${columns.map(([name]) => name)})
    SELECT ${values} FROM json_each(?) WHERE true ${conflict}`
  await run(db, sql, rows)
}

/** Inserts a row, or updates the row that has the same `keys`. */
export async function upsert<Table extends keyof Tables>(
  db: Queries,
  table: Table,
  keys: readonly string[],
  row: NewRow<Table>,
): Promise<void> {
  const others = Object.keys(row).filter(column => !keys.includes(column))
  const set = others.map(column => `${column} = excluded.${column}`)
  const sql = `${insertSql(table, row)} ON CONFLICT (${keys}) DO UPDATE SET ${set}`
  await run(db, sql, ...(Object.values(row) as Parameter[]))
}

function insertSql(table: string, row: object): string {
  const columns = Object.keys(row)
  return `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`
}

function execute(db: Queries, sql: string, parameters: readonly Parameter[]) {
  // PostgreSQL has no texts with U+0000, and libsql reads them up to there.
  const hasNul = (value: unknown) => typeof value === 'string' && value.includes('\0')
  if (parameters.flat().some(hasNul)) refuse('text_nul')
  const values = parameters.map(value => (Array.isArray(value) ? JSON.stringify(value) : value))
  return db.execute(sql, values)
}

/** Runs the work of a transaction, whose statements fail once it has ended. */
export async function inTransaction<T>(
  { engine, execute }: Queries,
  work: (tx: Queries) => Promise<T>,
): Promise<T> {
  let isOpen = true
  const executeWithin: Queries['execute'] = async (sql, parameters) => {
    // Outside of the transaction the statement would be a change by itself.
    if (!isOpen) throw new Error(`the transaction has ended: ${sql}`)
    return execute(sql, parameters)
  }
  try {
    return await work({ engine, execute: executeWithin })
  } finally {
    isOpen = false
  }
}
