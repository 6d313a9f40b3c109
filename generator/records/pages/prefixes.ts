import { all, LIST, type Queries, type Row, value } from '../../database/statement.ts'
import { type CrateCard, selectCards } from './cards.ts'

/** Every character that a canonical name may contain, in order. */
const CHARACTERS = [...'0123456789_abcdefghijklmnopqrstuvwxyz']

/** Returns the number of crates for each of some prefixes; skips those without any. */
export async function prefixCounts(
  db: Queries,
  prefixes: readonly string[],
): Promise<Map<string, number>> {
  const sql = `SELECT prefix, crates FROM prefixes WHERE prefix IN ${LIST}`
  const rows = await all<Row<'prefixes'>>(db, sql, prefixes)
  return new Map(rows.map(row => [row.prefix, row.crates]))
}

/** Returns the number of listed crates, without counting them. */
export async function crateCount(db: Queries): Promise<number> {
  return (await value<number>(db, "SELECT crates FROM prefixes WHERE prefix = ''")) ?? 0
}

/** Returns the prefixes that are one character longer, in order, with their counts of crates. */
export async function longerPrefixes(
  db: Queries,
  prefix: string,
): Promise<{ readonly prefix: string; readonly total: number }[]> {
  const longer = CHARACTERS.map(character => prefix + character)
  const counts = await prefixCounts(db, longer)
  return longer.flatMap(prefix => {
    const total = counts.get(prefix)
    return total === undefined ? [] : [{ prefix, total }]
  })
}

/** Returns at most `limit` crates whose canonical name begins with `prefix`, by name. */
export function cratesBelow(db: Queries, prefix: string, limit: number): Promise<CrateCard[]> {
  const rest = `WHERE listings.canonical >= ? AND listings.canonical < ?
    ORDER BY listings.canonical LIMIT ?`
  // `{` follows `z`, the last character that a canonical name may have.
  return selectCards(db, rest, prefix, `${prefix}{`, limit)
}
