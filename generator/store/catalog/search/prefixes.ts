import { sql } from 'kysely'
import type { CanonicalName } from '../../../../core/name.ts'
import type { Queries } from '../change.ts'

/** Every character that a canonical name may have, in order. */
const CHARACTERS = [...'0123456789_abcdefghijklmnopqrstuvwxyz']

/** Counts a crate for all beginnings of its name, the empty one too. */
export async function countPrefixes(tx: Queries, canonical: CanonicalName): Promise<void> {
  await tx
    .insertInto('prefixes')
    .values(beginnings(canonical).map(prefix => ({ prefix, crates: 1 })))
    .onConflict(conflict =>
      conflict.column('prefix').doUpdateSet({ crates: sql`prefixes.crates + 1` }),
    )
    .execute()
}

/** Takes back what `countPrefixes` did. */
export async function uncountPrefixes(tx: Queries, canonical: CanonicalName): Promise<void> {
  const mine = beginnings(canonical)
  await tx
    .updateTable('prefixes')
    .set({ crates: sql`crates - 1` })
    .where('prefix', 'in', mine)
    .execute()
  await tx.deleteFrom('prefixes').where('prefix', 'in', mine).where('crates', '=', 0).execute()
}

/** How many crates there are below each of some prefixes; those with none are left out. */
export async function prefixCounts(
  db: Queries,
  prefixes: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.selectFrom('prefixes').selectAll().where('prefix', 'in', prefixes).execute()
  return new Map(rows.map(row => [row.prefix, row.crates]))
}

/** The prefixes with one character more that some crate has, in order, with their counts. */
export async function longerPrefixes(
  db: Queries,
  prefix: string,
): Promise<{ readonly prefix: string; readonly total: number }[]> {
  const longer = CHARACTERS.map(character => prefix + character)
  const counts = await prefixCounts(db, longer)
  return longer.flatMap(one => {
    const total = counts.get(one)
    return total === undefined ? [] : [{ prefix: one, total }]
  })
}

/** Ids of the crates whose canonical name begins with `prefix`, by name; at most `limit`. */
export async function cratesBelow(db: Queries, prefix: string, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('listings')
    .select('crate_id')
    .where('canonical', '>=', prefix)
    // `{` follows `z`, the last character that a canonical name may have.
    .where('canonical', '<', `${prefix}{`)
    .orderBy('canonical')
    .limit(limit)
    .execute()
  return rows.map(row => row.crate_id)
}

/** Ids of the crates whose canonical name is exactly this: one or none. */
export async function crateNamed(db: Queries, canonical: string): Promise<number[]> {
  const rows = await db
    .selectFrom('listings')
    .select('crate_id')
    .where('canonical', '=', canonical)
    .execute()
  return rows.map(row => row.crate_id)
}

/** `abc` → ``, `a`, `ab`, `abc`. */
export function beginnings(canonical: string): string[] {
  return Array.from({ length: canonical.length + 1 }, (_, end) => canonical.slice(0, end))
}
