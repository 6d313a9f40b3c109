import type { Name } from '../../../../core/name.ts'
import type { Queries } from '../change.ts'

/** The listed crates with an id from `first` on, below `end`, in the order of their ids. */
export async function listedBetween(
  db: Queries,
  first: number,
  end: number,
): Promise<{ readonly id: number; readonly name: Name; readonly updatedAt: string }[]> {
  const rows = await db
    .selectFrom('listings')
    .innerJoin('crates', 'crates.id', 'listings.crate_id')
    .select(['crates.id', 'crates.name', 'listings.updated_at'])
    .where('listings.crate_id', '>=', first)
    .where('listings.crate_id', '<', end)
    .orderBy('listings.crate_id')
    .execute()
  return rows.map(row => ({ id: row.id, name: row.name as Name, updatedAt: row.updated_at }))
}

/** Which ranges of `width` ids have a listed crate, by number; one query for each. */
export async function rangesOf(db: Queries, width: number): Promise<number[]> {
  const ranges: number[] = []
  for (let first = 0; ; ) {
    const row = await db
      .selectFrom('listings')
      .select('crate_id')
      .where('crate_id', '>=', first)
      .orderBy('crate_id')
      .limit(1)
      .executeTakeFirst()
    if (!row) return ranges
    const range = Math.floor(row.crate_id / width)
    ranges.push(range)
    first = (range + 1) * width
  }
}
