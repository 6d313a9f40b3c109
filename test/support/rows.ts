import { TABLE_KEYS } from '../../generator/database/copy.ts'
import { all, type NewRow, type Queries, run } from '../../generator/database/statement.ts'
import type { Tables } from '../../generator/database/tables.ts'
import type { Mark } from '../../generator/records/marks.ts'

/** Lists pending work of one kind, oldest first. */
export function listMarks(db: Queries, kind: string): Promise<Mark[]> {
  const sql = 'SELECT kind, subject, generation FROM marks WHERE kind = ? ORDER BY generation'
  return all(db, sql, kind)
}

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

/** All records, by table: those that `where` selects in each, in the order of their keys. */
export async function allRecords(
  database: Queries,
  where: (table: string) => string = () => 'true',
): Promise<Record<string, unknown[]>> {
  const tables = Object.entries(TABLE_KEYS).map(async ([table, keys]) => {
    const sql = `SELECT * FROM ${table} WHERE ${where(table)} ORDER BY ${keys}`
    const rows = await all<object>(database, sql)
    return [table, rows.map(row => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))]
  })
  return Object.fromEntries(await Promise.all(tables))
}
