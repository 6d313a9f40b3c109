import type { Name } from '../../../core/name.ts'
import { all, type Queries, value } from '../../database/statement.ts'

/** Returns the listed crates with an id of at least `from` and less than `end`, in order of id. */
export function listedBetween(
  db: Queries,
  from: number,
  end: number,
): Promise<{ readonly id: number; readonly name: Name; readonly updatedAt: string | null }[]> {
  return all(
    db,
    `SELECT crates.id, crates.name, nullif(listings.updated_at, '') AS "updatedAt"
      FROM listings JOIN crates ON crates.id = listings.crate_id
      WHERE listings.crate_id >= ? AND listings.crate_id < ? ORDER BY listings.crate_id`,
    from,
    end,
  )
}

/** Returns the numbers of the ranges of `width` ids that contain a listed crate. */
export async function rangesOf(db: Queries, width: number): Promise<number[]> {
  const sql = 'SELECT crate_id FROM listings WHERE crate_id >= ? ORDER BY crate_id LIMIT 1'
  const ranges: number[] = []
  for (let from = 0; ; from = ((ranges.at(-1) ?? 0) + 1) * width) {
    const id = await value<number>(db, sql, from)
    if (id === null) return ranges
    ranges.push(Math.floor(id / width))
  }
}
