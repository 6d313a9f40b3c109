import type { Queries } from '../../generator/database/statement.ts'
import { pageWork } from '../../generator/pages/due.ts'

/** Counts the pages that wait to be rendered. */
export async function countPageMarks(db: Queries): Promise<number> {
  return (await pageWork(db)).count
}
