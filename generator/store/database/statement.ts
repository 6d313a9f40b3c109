import { CompiledQuery, type Kysely, type Selectable } from 'kysely'
import type { Tables } from './tables.ts'

/** The database, or a transaction of it. */
export type Queries = Kysely<Tables>

/** A row of a table as a statement reads it: `Pick` the columns that it selects. */
export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>

/** A value for a `?`. A list becomes a JSON array, for `json_each(?)`. */
type Parameter = string | number | null | Uint8Array | readonly unknown[]

/**
 * The rows of a statement. Its text is constant, because the prepared statement is kept for it:
 * values and lists are parameters.
 */
export async function all<R>(db: Queries, sql: string, ...parameters: Parameter[]): Promise<R[]> {
  return (await execute<R>(db, sql, parameters)).rows
}

/** The first row of a statement; null when there is none. */
export async function first<R>(
  db: Queries,
  sql: string,
  ...parameters: Parameter[]
): Promise<R | null> {
  return (await execute<R>(db, sql, parameters)).rows[0] ?? null
}

/** Executes a statement that returns no rows, and gives how many it has changed. */
export async function run(db: Queries, sql: string, ...parameters: Parameter[]): Promise<number> {
  return Number((await execute(db, sql, parameters)).numAffectedRows ?? 0)
}

function execute<R>(db: Queries, sql: string, parameters: readonly Parameter[]) {
  const values = parameters.map(one => (Array.isArray(one) ? JSON.stringify(one) : one))
  return db.executeQuery<R>(CompiledQuery.raw(sql, values))
}
