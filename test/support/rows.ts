import { type NewRow, type Queries, run } from '../../generator/database/statement.ts'
import type { Tables } from '../../generator/database/tables.ts'

/** Inserts a row, or several, as they are. */
export async function insertRows<Table extends keyof Tables>(
  database: Queries,
  table: Table,
  rows: NewRow<Table> | readonly NewRow<Table>[],
): Promise<void> {
  for (const row of [rows].flat() as NewRow<Table>[]) {
    const columns = Object.keys(row)
    const sql = `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`
    await run(database, sql, ...(Object.values(row) as string[]))
  }
}
