/**
 * The search index. A crate is found by terms: the words of its name, keywords, and description,
 * the beginnings of the words of its name, and its filters. The rank of a crate for a term says how
 * well they match; crates with a lower rank come first (`core/search/terms.ts`).
 *
 * - `terms` has the number of crates that each term finds, `postings` the crates with their ranks.
 *   It also lists words that begin or end alike, for searches that find similar words.
 * - A term that finds many crates also has bitmaps of them (`bitmaps.ts`). A query combines bitmaps
 *   (`crate-sets.ts`), which is faster than looking up each crate; few crates are ranked in short
 *   ones (`compact.ts`).
 * - `index-terms.ts` updates all of these after a crate got a different newest version
 *   (`pending-terms.ts`).
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
import { column, type Queries, value } from '../../database/statement.ts'
import { crateCount } from '../pages/prefixes.ts'
import { Compact } from './compact.ts'
import { isYankedState, needsLaterRust } from './crate-bytes.ts'
import {
  addBits,
  allBits,
  allMasks,
  type Bits,
  byScore,
  countBits,
  evenSets,
  everyOf,
  hasAny,
  type Mask,
  type Matches,
  maskOf,
  matchedBy,
  mostWords,
  picked,
  type Sets,
  setBit,
  without,
} from './crate-sets.ts'
import { type Slice, sortedIds } from './order.ts'
import { SearchCache } from './search-cache.ts'

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
 * begin one of their words, or be an inflection of it. The exact name comes first, then the rest by
 * where the words occur, by dependents, and by the length of the name; crates with only yanked
 * versions come last. A word that no crate has stands for the words that are most like it; if no
 * crate has all words, those with the most are found. An empty query finds every crate, by name.
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
  const cache = await SearchCache.complete(db)
  const plan = await planSearch(words, vocabularyOf(cache))
  if (words.length > 0 && plan.words.length === 0) return { ...NO_CRATES, leniency: plan }
  const [only] = plan.words
  const [term] = only?.variants ?? []
  if (term?.likeness === 'same' && only?.variants.length === 1 && words.length === 1) {
    const row = (await cache.terms([term.term])).get(term.term)
    if (row && key === null && !isNarrowed && sort === 'relevance')
      return { ...(await pageOf(db, slice, row.crates, ONE_TERM, row.id)), leniency: plan }
  }
  return combined(db, request, { plan, key, cache }, slice)
}

const EVERY_CRATE = 'SELECT crate_id FROM listings ORDER BY yanked, canonical LIMIT ? OFFSET ?'
const ONE_TERM = `SELECT crate_id FROM postings
  WHERE term_id = ? ORDER BY rank, crate_id LIMIT ? OFFSET ?`

const NAMED = 'SELECT id FROM crates WHERE canonical = ?'

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

/** Returns the vocabulary of the catalog. */
function vocabularyOf(cache: SearchCache): Vocabulary {
  return {
    counts: async some => {
      const terms = await cache.terms(some)
      return some.map(term => terms.get(term)?.crates ?? 0)
    },
    listed: (key, hash) => cache.listed(key, hash),
  }
}

/** A planned search, with what the catalog says of its terms. */
interface Planned {
  readonly plan: Plan
  readonly key: string | null
  readonly cache: SearchCache
}

/** Combines the sets of crates that the words find. The cost hardly depends on the words. */
async function combined(
  db: Queries,
  { filters, sort }: SearchRequest,
  { plan, key, cache }: Planned,
  slice: Slice,
): Promise<FoundCrates> {
  const { scores, states } = await cache.crateBytes()
  const words = scores.length / 32
  const found = await Promise.all(plan.words.map(one => cache.sets(one.variants)))
  const masking = TERM_FILTERS.flatMap(one => {
    const text = filters[one]
    return text === undefined ? [] : [filterTerm(one, text)]
  })
  const masks = await Promise.all(
    masking.map(async term => maskOf(await cache.sets([{ term, likeness: 'same' }]))),
  )
  if (filters.rust !== undefined) masks.push(usableMask(states, filters.rust))
  if (filters.owner !== undefined) masks.push(await ownedMask(db, filters.owner, words))
  if (found.length === 0) found.push(evenSets(listedMask(states)))
  const matches = mostWords(found, allMasks(masks))
  const { crates, matched } = matches
  const counts = { leniency: plan, matched, words: plan.words.length }
  const total = crates.reduce((sum, side) => sum + countBits(side), 0)
  if (sort !== 'relevance')
    return { ids: await sortedIds(db, crates, sort, slice), total, ...counts }
  const exact = key === null ? [] : await column<number>(db, NAMED, key)
  const compact = new Compact(crates)
  const few = compact.matches(matches)
  const rarest = matched < plan.words.length ? (few.found[rarestOf(plan.words)] ?? null) : null
  const groups = ranked(few, compact.places(exact), rarest)
  return { ids: compact.ids(sliceOf(groups, compact.scores(scores), slice)), total, ...counts }
}

/** Yields disjoint sets in the order of the results; `rarest`: crates that come before others. */
function* ranked(matches: Matches, exact: readonly number[], rarest: Sets | null): Generator<Bits> {
  const ofClass = remembered(at => matchedBy(matches, at))
  for (const isYanked of [false, true]) {
    const side = matches.crates[isYanked ? 1 : 0]
    if (!hasAny(side)) continue
    const from = isYanked ? YANKED_FROM : 0
    const classes = Array.from({ length: YANKED_FROM }, (_, at) => from + at)
    const first = picked(side, exact)
    yield first
    const passes = rarest === null ? [null] : [everyOf(rarest, isYanked), null]
    const before = first.slice()
    for (const kept of passes) {
      for (const at of classes) {
        const own = without(ofClass(at), before)
        const bits = kept === null ? own : allBits([own, kept])
        yield bits
        addBits(before, bits)
      }
    }
  }
}

function remembered(compute: (at: number) => Bits): (at: number) => Bits {
  const known: (Bits | undefined)[] = []
  return at => {
    known[at] ??= compute(at)
    return known[at]
  }
}

/** Returns a slice of sets that follow one another; asks for no more of them than it needs. */
function sliceOf(groups: Iterable<Bits>, scores: Uint8Array, { limit, offset }: Slice): number[] {
  const ids: number[] = []
  let before = 0
  for (const bits of groups) {
    const count = countBits(bits)
    const from = Math.max(offset + ids.length - before, 0)
    if (from < count) ids.push(...byScore(bits, scores, from, limit - ids.length))
    if (ids.length >= limit) break
    before += count
  }
  return ids
}

/** Returns the listed crates. */
function listedMask(states: Uint8Array): Mask {
  return maskBy(states, state => state !== 0 && !isYankedState(state), isYankedState)
}

/** Returns the crates that do not say to need a later Rust. */
function usableMask(states: Uint8Array, rust: string): Mask {
  const minor = rustMinor(rust)
  const isUsable = (state: number) => minor === null || !needsLaterRust(state, minor)
  return maskBy(states, isUsable, isUsable)
}

/** Returns the crates of a user, yanked or not. */
async function ownedMask(db: Queries, login: string, words: number): Promise<Mask> {
  const text = `SELECT json_group_array(owners.crate_id) FROM owners
    JOIN users ON users.id = owners.user_id WHERE users.canonical = ?`
  const ids = JSON.parse((await value<string>(db, text, login.toLowerCase())) ?? '[]') as number[]
  const owned = new Uint32Array(words)
  for (const id of ids) setBit(owned, id)
  return [owned, owned]
}

function maskBy(
  states: Uint8Array,
  isUnyanked: (state: number) => boolean,
  isYanked: (state: number) => boolean,
): Mask {
  const mask: Mask = [new Uint32Array(states.length / 32), new Uint32Array(states.length / 32)]
  for (let id = 0; id < states.length; id++) {
    const state = states[id] ?? 0
    if (isUnyanked(state)) setBit(mask[0], id)
    if (isYanked(state)) setBit(mask[1], id)
  }
  return mask
}
