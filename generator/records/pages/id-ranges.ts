import type { Name } from '../../../core/name.ts'
import { all, first, type Queries } from '../../database/statement.ts'

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
export function rangesOf(db: Queries, width: number): Promise<number[]> {
  const text = `SELECT crate_id AS id FROM listings
    WHERE crate_id >= ? ORDER BY crate_id LIMIT 1`
  return rangesFrom(width, from => first(db, text, from))
}

/**
 * Returns the numbers of the ranges of `width` ids that contain an id. Runs one query for each:
 * `next` reads the lowest id that is at least `from`.
 */
export async function rangesFrom(
  width: number,
  next: (from: number) => Promise<{ readonly id: number } | null>,
): Promise<number[]> {
  const ranges: number[] = []
  for (let from = 0; ; from = ((ranges.at(-1) ?? 0) + 1) * width) {
    const row = await next(from)
    if (!row) return ranges
    ranges.push(Math.floor(row.id / width))
  }
}
