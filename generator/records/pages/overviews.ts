import { dateOf, dayOf } from '../../../core/day-counts.ts'
import type { Name } from '../../../core/name.ts'
import { all, first, LIST, one, type Queries, type Row, value } from '../../database/statement.ts'
import { LAST_PUBLISHED, NEW } from '../releases-view.ts'
import { type CrateCard, selectCards } from './cards.ts'

/** New releases and crates in the week from a Monday on, such as `2026-11-16`. */
type Week = { readonly at: string } & NewCounts
type NewCounts = Readonly<Record<'releases' | 'crates', number>>

/** Returns the weeks up to that of the latest release, perhaps long ago; none without times. */
export async function readWeeks(db: Queries, count: number): Promise<Week[]> {
  const last = await value<string>(db, LAST_PUBLISHED)
  if (last === null) return []
  // The time is left out: `Date` does not know leap seconds.
  const day = dayOf(new Date(last.slice(0, 10)))
  // The first day was a Thursday.
  const monday = day - ((day + 3) % 7)
  const weeks: Week[] = []
  for (let start = monday - 7 * (count - 1); start <= monday; start += 7) {
    const [at, end] = [dateOf(start), dateOf(start + 7)]
    weeks.push({ at, ...(await one<NewCounts>(db, NEW, at, end, at, end)) })
  }
  return weeks
}

/** The figures of a registry. */
export interface Figures {
  readonly crates: number
  readonly versions: number
  readonly bytes: number
  /** The crate with the most dependents, unless it is yanked; null when none has any. */
  readonly mostRequired: Name | null
}

/** Returns the figures of the registry. */
export function readFigures(db: Queries): Promise<Figures> {
  // A sum has no index: SQLite would take the one of `yanked`, and sort all crates.
  const sql = `SELECT coalesce((SELECT crates FROM prefixes WHERE prefix = ''), 0) AS crates,
    (SELECT n FROM counts WHERE what = 'releases') AS versions,
    (SELECT n FROM counts WHERE what = 'bytes') AS bytes,
    (SELECT crates.name FROM listings JOIN crates ON crates.id = listings.crate_id
      WHERE listings.dependents > 0 AND listings.yanked + 0 = 0
      ORDER BY listings.dependents DESC, listings.canonical LIMIT 1) AS "mostRequired"`
  return one(db, sql)
}

/** The orders of the list of all crates, besides the one by name. */
export const ORDERS = ['dependents', 'updated', 'newest', 'bytes'] as const
export type CrateOrder = (typeof ORDERS)[number]

/** Each follows an index, so that only `limit` rows are read. */
const ORDER_BY: Readonly<Record<CrateOrder, string>> = {
  dependents: 'listings.dependents DESC, listings.canonical',
  updated: 'listings.updated_at DESC, listings.crate_id DESC',
  newest: 'crates.created_at DESC, crates.id DESC',
  bytes: 'listings.bytes DESC, listings.crate_id DESC',
}

/** Returns the first `limit` crates in an order. */
export function cratesInOrder(db: Queries, order: CrateOrder, limit: number): Promise<CrateCard[]> {
  return selectCards(db, `ORDER BY ${ORDER_BY[order]} LIMIT ?`, limit)
}

/** Returns the most recently updated crates that have several versions, newest first. */
export function updatedCrates(db: Queries, limit: number): Promise<CrateCard[]> {
  const rest =
    'WHERE listings.versions > 1 ORDER BY listings.updated_at DESC, listings.crate_id DESC LIMIT ?'
  return selectCards(db, rest, limit)
}

/** Returns the listed crates with an id of at least `from` and less than `end`, in order of id. */
export function listedBetween(
  db: Queries,
  from: number,
  end: number,
): Promise<{ readonly id: number; readonly name: Name; readonly updatedAt: string | null }[]> {
  const sql = `SELECT crates.id, crates.name, nullif(listings.updated_at, '') AS "updatedAt"
    FROM listings JOIN crates ON crates.id = listings.crate_id
    WHERE listings.crate_id >= ? AND listings.crate_id < ? ORDER BY listings.crate_id`
  return all(db, sql, from, end)
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

/** A keyword or category that has a page. */
export type Label = Pick<Row<'labels'>, 'id' | 'kind' | 'slug'>

/** A keyword or category with the number of its crates. */
export type LabelCount = Readonly<Pick<Row<'labels'>, 'slug' | 'crates'>>

/** Returns a label by its id, with the number of its crates, which may be 0; null if unknown. */
export function readLabel(db: Queries, id: number): Promise<(Label & LabelCount) | null> {
  return first(db, 'SELECT id, kind, slug, crates FROM labels WHERE id = ?', id)
}

/** Returns crates of a label: by number of dependents, in steps that double, then the newest. */
export function labelCrates(db: Queries, labelId: number, limit: number): Promise<CrateCard[]> {
  const rest = `JOIN crate_labels ON crate_labels.crate_id = crates.id WHERE label_id = ?
    ORDER BY crate_labels.weight DESC, crate_labels.crate_id DESC LIMIT ?`
  return selectCards(db, rest, labelId, limit)
}

/** Returns the labels of a kind that most crates have, at most `limit`. */
export function commonLabels(
  db: Queries,
  kind: Label['kind'],
  limit: number,
): Promise<LabelCount[]> {
  const sql = `SELECT slug, crates FROM labels
    WHERE kind = ? AND crates > 0 ORDER BY crates DESC, slug LIMIT ?`
  return all(db, sql, kind, limit)
}

/** Returns at most `limit` categories below a category, by slug. */
export function subcategories(db: Queries, slug: string, limit: number): Promise<LabelCount[]> {
  const sql = `SELECT slug, crates FROM labels
    WHERE kind = 'category' AND slug > ? AND slug < ? AND crates > 0 ORDER BY slug LIMIT ?`
  // `;` follows `:`.
  return all(db, sql, `${slug}::`, `${slug}:;`, limit)
}

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
