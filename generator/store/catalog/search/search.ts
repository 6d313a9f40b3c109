/**
 * The search index. A crate is found by terms: the words of its name, keywords, and description,
 * the beginnings of the words of its name, and its filters. The rank of a crate for a term says how
 * well they match; crates with a lower rank come first (`core/search/terms.ts`).
 *
 * - `terms` has the number of crates that each term finds, `postings` the crates with their ranks.
 *   It also lists words that begin or end alike, for searches that find similar words.
 * - A term that finds many crates also has bitmaps of them (`bitmaps.ts`). A query combines bitmaps
 *   (`crate-sets.ts`), which is faster than looking up each crate.
 * - `index-terms.ts` updates all of these when a crate gets a different newest version.
 * - The browser searches in files that `search-files.ts` reads from the same tables.
 */
import {
  type Leniency,
  type Plan,
  planSearch,
  rarestOf,
  type Vocabulary,
} from '../../../../core/search/plan.ts'
import { rustMinor, type SearchRequest } from '../../../../core/search/request.ts'
import { filterTerm, TERM_FILTERS, YANKED_FROM } from '../../../../core/search/terms.ts'
import { parseQuery } from '../../../../core/search/words.ts'
import { all, column, LIST, type Queries, value } from '../../database/statement.ts'
import { crateCount } from '../pages/prefixes.ts'
import { needsLaterRust, readCrateBytes } from './crate-bytes.ts'
import {
  byNameLength,
  countBits,
  everyOf,
  keepOnly,
  listedSets,
  mostWords,
  ofClass,
  readSets,
  removeBetter,
  type Sets,
  type TermRow,
  takeOut,
} from './crate-sets.ts'
import { type Slice, sortedIds } from './order.ts'
import { readWords } from './search-files.ts'

/** Found crates, best first: the ids on this page, and the number on all pages. */
export interface FoundCrates {
  readonly ids: readonly number[]
  readonly total: number
  readonly leniency: Leniency
  /** How many words each of these crates has, of how many that any crate has. */
  readonly matched: number
  readonly words: number
}

const NONE: Leniency = { similar: [], suggested: [], missing: [] }

/** What a search without words finds, unless it is narrowed down. */
export const NO_CRATES: FoundCrates = { ids: [], total: 0, leniency: NONE, matched: 0, words: 0 }

/** Returns a search for words only, best first. */
export function searchFor(q: string): SearchRequest {
  return { q, filters: {}, sort: 'relevance', page: 1 }
}

/**
 * Searches the crates: every word must occur in the name, the keywords, or the description, or
 * begin one of their words, or be an inflection of it. The exact name comes first, then names that
 * begin with the query, then the rest by where the words occur; crates with only yanked versions
 * come last. A word that no crate has stands for the words that are most like it; if no crate has
 * all words, those with the most are found. An empty query finds every crate, by name.
 */
export async function searchCrates(
  db: Queries,
  request: SearchRequest,
  slice: Slice,
): Promise<FoundCrates> {
  const { q, filters, sort } = request
  const { words, key } = parseQuery(q)
  const isNarrowed = Object.keys(filters).length > 0
  if (words.length === 0 && /[^\s+]/.test(q)) return NO_CRATES
  if (words.length === 0 && !isNarrowed && sort === 'relevance')
    return pageOf(db, slice, await crateCount(db), EVERY_CRATE)
  const terms = new Map<string, TermRow>()
  const plan = await planSearch(words, vocabularyOf(db, terms))
  if (words.length > 0 && plan.words.length === 0) return { ...NO_CRATES, leniency: plan }
  const [only] = plan.words
  const [term] = only?.variants ?? []
  if (term?.likeness === 'same' && only?.variants.length === 1 && words.length === 1) {
    const row = terms.get(term.term)
    if (row && key === null && !isNarrowed && sort === 'relevance')
      return { ...(await pageOf(db, slice, row.crates, ONE_TERM, row.id)), leniency: plan }
  }
  return combined(db, request, { plan, key, terms }, slice)
}

const EVERY_CRATE = 'SELECT crate_id FROM listings ORDER BY yanked, canonical LIMIT ? OFFSET ?'
const ONE_TERM = `SELECT crate_id FROM postings
  WHERE term_id = ? ORDER BY rank, crate_id LIMIT ? OFFSET ?`

/** `{` follows `z`, the last character of canonical names. */
const BEGINNING = 'SELECT id FROM crates WHERE canonical >= ? AND canonical < ?'

async function pageOf(
  db: Queries,
  { limit, offset }: Slice,
  total: number,
  text: string,
  ...parameters: number[]
): Promise<FoundCrates> {
  const ids = offset < total ? await column<number>(db, text, ...parameters, limit, offset) : []
  return { ids, total, leniency: NONE, matched: 1, words: 1 }
}

/** Returns the vocabulary of the catalog; `terms` collects the terms that were looked up. */
function vocabularyOf(db: Queries, terms: Map<string, TermRow>): Vocabulary {
  return {
    counts: async some => {
      await readTerms(db, some, terms)
      return some.map(term => terms.get(term)?.crates ?? 0)
    },
    listed: (key, hash) => readWords(db, key, hash),
  }
}

async function readTerms(
  db: Queries,
  some: readonly string[],
  terms: Map<string, TermRow>,
): Promise<void> {
  const unread = some.filter(term => !terms.has(term))
  if (unread.length === 0) return
  const rows = await all<TermRow>(db, `SELECT * FROM terms WHERE term IN ${LIST}`, unread)
  for (const row of rows) terms.set(row.term, row)
}

/** A planned search, with the terms of the catalog that it needs. */
interface Planned {
  readonly plan: Plan
  readonly key: string | null
  readonly terms: Map<string, TermRow>
}

/** Combines the sets of crates that the words find. The cost hardly depends on the words. */
async function combined(
  db: Queries,
  { filters, sort }: SearchRequest,
  { plan, key, terms }: Planned,
  slice: Slice,
): Promise<FoundCrates> {
  const { lengths, states } = await readCrateBytes(db)
  const words = lengths.length / 32
  const masking = TERM_FILTERS.flatMap(one => {
    const text = filters[one]
    return text === undefined ? [] : [filterTerm(one, text)]
  })
  await readTerms(db, masking, terms)
  const { found, masks } = await readSets(db, plan.words, masking, terms, words)
  const { sets, matched } =
    found.length === 0
      ? mostWords([listedSets(states, words)], masks, words)
      : mostWords(found, masks, words)
  if (filters.rust !== undefined) dropLaterRust(sets, states, filters.rust, words)
  if (filters.owner !== undefined) keepOnly(sets, await ownedBy(db, filters.owner, words), words)
  const counts = { leniency: plan, matched, words: plan.words.length }
  const sides = [everyOf(sets, false, words), everyOf(sets, true, words)]
  const total = sides.reduce((sum, side) => sum + countBits(side), 0)
  if (sort !== 'relevance')
    return { ids: await sortedIds(db, sides, sort, slice), total, ...counts }
  const begins = key === null ? [] : await column<number>(db, BEGINNING, key, `${key}{`)
  removeBetter(sets, words)
  const rarest = matched < plan.words.length ? (found[rarestOf(plan.words)] ?? null) : null
  const groups = ranked(sets, begins, rarest, words)
  return { ids: sliceOf(groups, lengths, slice), total, ...counts }
}

/** Returns disjoint sets in the order of the results; `rarest`: crates that come before others. */
function ranked(
  sets: Sets,
  begins: readonly number[],
  rarest: Sets | null,
  words: number,
): Uint32Array[] {
  return [false, true].flatMap(isYanked => {
    const from = isYanked ? YANKED_FROM : 0
    const side = Array.from({ length: YANKED_FROM }, (_, at) => ofClass(sets, from + at, words))
    const first = takeOut(side, begins, words)
    if (rarest === null) return [first, ...side]
    const kept = everyOf(rarest, isYanked, words)
    const own = side.map(bits => bits.map((word, at) => word & (kept[at] ?? 0)))
    const others = side.map(bits => bits.map((word, at) => word & ~(kept[at] ?? 0)))
    return [first, ...own, ...others]
  })
}

function sliceOf(
  groups: readonly Uint32Array[],
  lengths: Uint8Array,
  { limit, offset }: Slice,
): number[] {
  const ids: number[] = []
  let before = 0
  for (const bits of groups) {
    const count = countBits(bits)
    const from = Math.max(offset + ids.length - before, 0)
    if (from < count && ids.length < limit)
      ids.push(...byNameLength(bits, lengths, from, limit - ids.length))
    before += count
  }
  return ids
}

/** Removes the crates that say to need a later Rust; those that say nothing stay. */
function dropLaterRust(sets: Sets, states: Uint8Array, rust: string, words: number): void {
  const minor = rustMinor(rust)
  if (minor === null) return
  const later: number[] = []
  for (const [id, state] of states.entries()) if (needsLaterRust(state, minor)) later.push(id)
  const classes = Array.from({ length: sets.length / words }, (_, at) => ofClass(sets, at, words))
  takeOut(classes, later, words)
}

/** Returns the crates of a user, as if every class had found them. */
async function ownedBy(db: Queries, login: string, words: number): Promise<Sets> {
  const text = `SELECT json_group_array(owners.crate_id) FROM owners
    JOIN users ON users.id = owners.user_id WHERE users.canonical = ?`
  const ids = JSON.parse((await value<string>(db, text, login.toLowerCase())) ?? '[]') as number[]
  const states = new Uint8Array(words * 32)
  for (const id of ids) states[id] = 1
  const listed = listedSets(states, words)
  // The set says nothing about yanks.
  listed.set(listed.subarray(0, listed.length / 2), listed.length / 2)
  return listed
}
