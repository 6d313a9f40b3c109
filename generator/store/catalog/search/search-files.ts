import {
  POSTINGS_FIRST,
  POSTINGS_MAX,
  type Posting,
  type Term,
  type WordList,
} from '../../../../core/search/buckets.ts'
import { HASH_BITS } from '../../../../core/search/hash.ts'
import { insideOf, SHELF_LIMIT } from '../../../../core/search/score.ts'
import { CLASSES } from '../../../../core/search/terms.ts'
import { KEYS, type Key, LISTED_MAX, type ListedWord } from '../../../../core/search/vocabulary.ts'
import { RANK_FIT } from '../../../../core/search/words.ts'
import { all, column, LIST, type Queries, type Row, run, value } from '../../database/statement.ts'
import { readFact, writeFact } from '../facts.ts'
import { MARK, type Mark } from '../marks.ts'
import { TERM } from './crate-sets.ts'

/**
 * The number of files, as a power of two, over which the terms of the browser's search are spread:
 * each file is a bucket of hashes.
 */
export interface Layout {
  /** The layout that the browser's search uses; null before the first one is complete. */
  readonly now: number | null
  /** The layout whose files are being written; null when there is none. */
  readonly next: number | null
}

const LAYOUT = 'search_bits'

/** Returns how the terms are spread over files. */
export async function readLayout(db: Queries): Promise<Layout> {
  const value = await readFact(db, LAYOUT)
  return value === null ? { now: null, next: null } : (JSON.parse(value) as Layout)
}

/**
 * Begins a layout in a transaction, replacing one in progress: marks its buckets. `finishLayout`
 * completes it.
 */
export async function beginLayout(tx: Queries, next: number): Promise<void> {
  const { now } = await readLayout(tx)
  await writeFact(tx, LAYOUT, JSON.stringify({ now, next } satisfies Layout))
  await run(tx, "DELETE FROM marks WHERE kind = 'spread'")
  await run(
    tx,
    `WITH RECURSIVE bucket (n) AS
      (SELECT 0 UNION ALL SELECT n + 1 FROM bucket WHERE n + 1 < ?)
      INSERT INTO marks (kind, subject, generation)
      SELECT 'spread', n, (SELECT coalesce(max(id), 0) FROM audit) FROM bucket`,
    2 ** next,
  )
}

/** Makes this layout the one that the browser's search uses. */
export async function finishLayout(db: Queries, now: number): Promise<void> {
  await writeFact(db, LAYOUT, JSON.stringify({ now, next: null } satisfies Layout))
}

/** Returns whether these are the last buckets of the next layout that have to be written. */
export async function isLastBucket(db: Queries, buckets: readonly number[]): Promise<boolean> {
  const text = `SELECT 1 FROM marks
    WHERE kind = 'spread' AND subject NOT IN ${LIST} LIMIT 1`
  return (await value(db, text, buckets)) === null
}

/** Returns the marks of the terms of a bucket. */
export function searchMarksOf(db: Queries, bits: number, bucket: number): Promise<Mark[]> {
  const text = `SELECT ${MARK} FROM marks WHERE kind = 'search' AND subject >= ? AND subject < ?`
  return all(db, text, ...hashesOf(bits, bucket))
}

/** Returns the range of a bucket's hashes: the first, and the one after the last. */
function hashesOf(bits: number, bucket: number): [number, number] {
  const width = 2 ** (HASH_BITS - bits)
  return [bucket * width, (bucket + 1) * width]
}

/** Returns the number of terms, without counting them. */
export async function termCount(db: Queries): Promise<number> {
  return (await value<number>(db, "SELECT n FROM counts WHERE what = 'terms'")) ?? 0
}

/** Returns the highest id of a listed crate; 0 when there is none. */
export async function lastCrate(db: Queries): Promise<number> {
  return (await value<number>(db, 'SELECT max(crate_id) FROM listings')) ?? 0
}

/** Reads the terms of a bucket, each with all its crates or the first ones; in no particular order. */
export async function readBucket(db: Queries, bits: number, bucket: number): Promise<Term[]> {
  const terms = await all<Row<'terms'>>(
    db,
    `SELECT ${TERM} FROM terms WHERE hash >= ? AND hash < ?`,
    ...hashesOf(bits, bucket),
  )
  const few = terms.filter(term => term.crates <= POSTINGS_MAX)
  const postings = new Map<number, Posting[]>(few.map(term => [term.id, []]))
  const rows = await all<Posting & Pick<Row<'postings'>, 'term_id'>>(
    db,
    `SELECT term_id, rank, crate_id AS id FROM postings
      WHERE term_id IN ${LIST} ORDER BY term_id, rank, crate_id`,
    [...postings.keys()],
  )
  for (const { term_id, rank, id } of rows) postings.get(term_id)?.push({ rank, id })
  const list: Term[] = []
  for (const { id, term, crates } of terms) {
    const complete = postings.get(id)
    const shelves = complete ? [] : await shelvesOf(db, id)
    list.push({ term, crates, postings: complete ?? (await firstPostings(db, id)), shelves })
  }
  return list
}

/** Reads the lists of similar words of a bucket. */
export async function readWordLists(
  db: Queries,
  bits: number,
  bucket: number,
): Promise<WordList[]> {
  const lists = await Promise.all(
    KEYS.map(async key => {
      const text = `SELECT ${key} AS hash, term AS word, grade FROM terms
        WHERE ${key} >= ? AND ${key} < ? AND grade > 0 ORDER BY ${key}, grade DESC, term`
      const rows = await all<{ hash: number } & ListedWord>(db, text, ...hashesOf(bits, bucket))
      const lists = new Map<number, ListedWord[]>()
      for (const { hash, word, grade } of rows) {
        const words = lists.get(hash) ?? []
        lists.set(hash, words)
        if (words.length < LISTED_MAX) words.push({ word, grade })
      }
      return [...lists].map(([hash, words]) => ({ key, hash, words }))
    }),
  )
  return lists.flat()
}

/** Returns the words that are listed under a key. */
export async function readWords(db: Queries, key: Key, hash: number): Promise<ListedWord[]> {
  // As one text: a row for each would take three times as long.
  const text = `SELECT json_group_array(json_array(term, grade)) FROM (SELECT term, grade
    FROM terms WHERE ${key} = ? AND grade > 0 ORDER BY grade DESC, term LIMIT ?) AS part`
  const list = JSON.parse((await value<string>(db, text, hash, LISTED_MAX)) ?? '[]')
  return (list as [string, number][]).map(([word, grade]) => ({ word, grade }))
}

/** What a search can sort and filter by, besides terms. */
export interface SearchFacts {
  readonly rust: string | null
  readonly dependents: number
  readonly owners: readonly string[]
}

/** Returns facts about listed crates by id; without owners if pages do not name them. */
export async function readSearchFacts(
  db: Queries,
  ids: readonly number[],
  withOwners: boolean,
): Promise<Map<number, SearchFacts>> {
  // Sorted after the join, which a server does in an order of its own.
  const owners = `(SELECT json_group_array(login) FROM
    (SELECT users.login FROM owners JOIN users ON users.id = owners.user_id
      WHERE owners.crate_id = listings.crate_id
      ORDER BY owners.added_at, owners.user_id) AS own)`
  const rows = await all<{
    id: number
    rust: string | null
    dependents: number
    owners: string | null
  }>(
    db,
    `SELECT listings.crate_id AS id, listings.dependents, releases.line ->> 'rust_version' AS rust,
      ${withOwners ? owners : "'[]'"} AS owners
      FROM listings JOIN releases ON releases.id = listings.newest_id
      WHERE listings.crate_id IN ${LIST}`,
    ids,
  )
  return new Map(
    rows.map(({ id, ...row }) => [id, { ...row, owners: JSON.parse(row.owners ?? '[]') }]),
  )
}

/** Returns the first crates of a common term. */
function firstPostings(db: Queries, termId: number): Promise<Posting[]> {
  const text = `SELECT rank, crate_id AS id FROM postings
    WHERE term_id = ? ORDER BY rank, crate_id LIMIT ?`
  return all(db, text, termId, POSTINGS_FIRST)
}

/** Reads the common terms of a hash, each with all its crates of one shelf. */
export async function readShelf(db: Queries, hash: number, shelf: number): Promise<Term[]> {
  const terms = await all<Row<'terms'>>(
    db,
    `SELECT ${TERM} FROM terms WHERE hash = ? AND crates > ?`,
    hash,
    POSTINGS_MAX,
  )
  const { scores, ids } = insideOf(shelf)
  const list: Term[] = []
  for (const { id, term } of terms) {
    const ranks = CLASS_RANKS.flatMap(first =>
      Array.from({ length: scores[1] - scores[0] }, (_, at) => [first + scores[0] + at]),
    )
    // Each rank is a place of the index: the other ids or the other scores may be very many.
    const postings = await all<Posting>(
      db,
      `SELECT rank, crate_id AS id FROM json_each(?) AS ranks CROSS JOIN postings
        ON term_id = ? AND rank = CAST(ranks.value ->> 0 AS INTEGER)
          AND crate_id >= ? AND crate_id < ?
        ORDER BY rank, crate_id`,
      ranks,
      id,
      ...ids,
    )
    if (postings.length > 0) list.push({ term, crates: postings.length, postings, shelves: [] })
  }
  return list
}

/** The first rank of each class. */
const CLASS_RANKS = Array.from({ length: CLASSES }, (_, at) => at * RANK_FIT)

/** Returns all subjects of `common` marks. */
export function commonSubjects(db: Queries): Promise<number[]> {
  const text = `SELECT DISTINCT hash * ${SHELF_LIMIT} + shelf FROM shelves
    JOIN terms ON terms.id = term_id WHERE terms.crates > ?`
  return column(db, text, POSTINGS_MAX)
}

/** Returns the shelves of a term that has bitmaps, with the number of crates of each. */
export async function shelvesOf(
  db: Queries,
  termId: number,
): Promise<readonly (readonly [shelf: number, crates: number])[]> {
  const text = 'SELECT term_id, shelf, crates FROM shelves WHERE term_id = ? ORDER BY shelf'
  const rows = await all<Row<'shelves'>>(db, text, termId)
  return rows.map(({ shelf, crates }) => [shelf, crates])
}

/** Returns the subject of the `common` mark of a hash and a shelf. */
export function commonSubject(hash: number, shelf: number): number {
  return hash * SHELF_LIMIT + shelf
}

/** Returns the hash and the shelf of a `commonSubject`. */
export function ofCommonSubject(subject: number): {
  readonly hash: number
  readonly shelf: number
} {
  return { hash: Math.floor(subject / SHELF_LIMIT), shelf: subject % SHELF_LIMIT }
}
