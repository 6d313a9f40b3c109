import { POSTINGS_MAX } from '../../../../core/search/buckets.ts'
import { hashOf } from '../../../../core/search/hash.ts'
import { shelfOf } from '../../../../core/search/score.ts'
import { classOf, type Findable } from '../../../../core/search/terms.ts'
import { gradeOf, keyOf } from '../../../../core/search/vocabulary.ts'
import { all, LIST, type Queries, type Row, run } from '../../database/statement.ts'
import { type MarkSubject, marksOf } from '../marks.ts'
import {
  BITMAPS_FROM,
  type BitmapChange,
  changeBitmaps,
  changeShelves,
  dropBitmaps,
  makeBitmaps,
} from './bitmaps.ts'
import { commonSubject, shelvesOf } from './search-files.ts'

/**
 * Changes the terms that find a crate from `old` to `now`, writing only the differences. Returns
 * the marks of the affected files of the browser's search.
 */
export async function changeTerms(
  tx: Queries,
  crateId: number,
  { ranks: old, words: oldWords }: Findable,
  { ranks: now, words: nowWords }: Findable,
): Promise<MarkSubject[]> {
  const gone = [...old.keys()].filter(term => !now.has(term))
  const come = [...now.keys()].filter(term => !old.has(term))
  const kept = [...now.keys()].filter(term => old.has(term))
  const moved = kept.filter(term => old.get(term) !== now.get(term))
  // Terms that stay, but become or no longer are a whole word.
  const turned = kept.filter(term => oldWords.has(term) !== nowWords.has(term))
  const terms = (text: string, list: readonly unknown[]) =>
    list.length > 0 ? all<Term>(tx, text, list) : []
  const left = await terms(
    LEAVE,
    gone.map(term => [term, Number(oldWords.has(term))]),
  )
  const entered = await terms(
    ENTER,
    come.map(term => rowOf(term, nowWords)),
  )
  const stayed = await terms(READ, moved)
  const reworded = await terms(
    REWORD,
    turned.map(term => [term, nowWords.has(term) ? 1 : -1]),
  )
  const removed = [...left, ...stayed]
  const added = [...entered, ...stayed]
  if (removed.length > 0) await run(tx, REMOVE_POSTINGS, crateId, idsOf(removed))
  const postings = added.map(({ id, term }) => [id, now.get(term)])
  if (added.length > 0) await run(tx, ADD_POSTINGS, crateId, postings)
  const isElsewhere = ({ term }: Term) =>
    classOf(old.get(term) ?? -1) !== classOf(now.get(term) ?? -1)
  await changeBitmaps(tx, crateId, [
    ...bitmapChanges(removed.filter(isElsewhere), old, false),
    ...bitmapChanges(added.filter(isElsewhere), now, true),
  ])
  // All ranks of a crate lead to the same shelf.
  const [from, to] = [old, now].map(ranks => shelfIn(crateId, ranks)) as [
    number | null,
    number | null,
  ]
  for (const [terms, ...shelves] of [
    [left, from, null],
    [entered, null, to],
    [stayed, from, to],
  ] as const)
    await changeShelves(tx, idsOf(terms.filter(term => term.common === 1)), shelves)
  // Only below half, so that a term near the limit does not get and lose bitmaps all the time.
  const rare = left.filter(term => term.common === 1 && term.crates < BITMAPS_FROM / 2)
  await dropBitmaps(tx, idsOf(rare))
  for (const term of entered)
    if (term.common === 0 && term.crates >= BITMAPS_FROM) await makeBitmaps(tx, term.id)
  const lists = await changeLists(tx, [...left, ...entered, ...reworded])
  const unused = left.filter(term => term.crates === 0)
  if (unused.length > 0) await run(tx, `DELETE FROM terms WHERE id IN ${LIST}`, idsOf(unused))
  return [...lists, ...(await fileMarks(tx, [from, to], { left, entered, stayed }))]
}

/** A term after a change. */
type Term = Pick<Row<'terms'>, 'id' | 'term' | 'crates' | 'common' | 'words' | 'grade'>

const TERM = 'id, term, crates, common, words, grade'
const LEAVE = `UPDATE terms SET crates = crates - 1,
    words = words - CAST(gone.value ->> 1 AS INTEGER)
  FROM json_each(?) AS gone WHERE terms.term = gone.value ->> 0 RETURNING ${TERM}`
const ENTER = `INSERT INTO terms (term, crates, hash, words, start, shape)
  SELECT value ->> 0, 1, CAST(value ->> 1 AS INTEGER), CAST(value ->> 2 AS INTEGER),
    CAST(value ->> 3 AS INTEGER), CAST(value ->> 4 AS INTEGER)
    FROM json_each(?) WHERE true
  ON CONFLICT (term) DO UPDATE SET crates = terms.crates + 1, words = terms.words + excluded.words
  RETURNING ${TERM}`
const REWORD = `UPDATE terms SET words = words + CAST(turned.value ->> 1 AS INTEGER)
  FROM json_each(?) AS turned WHERE terms.term = turned.value ->> 0 RETURNING ${TERM}`
const READ = `SELECT ${TERM} FROM terms WHERE term IN ${LIST}`
const REGRADE = `UPDATE terms SET grade = CAST(graded.value ->> 1 AS INTEGER)
  FROM json_each(?) AS graded WHERE terms.id = CAST(graded.value ->> 0 AS INTEGER)`
const REMOVE_POSTINGS = `DELETE FROM postings WHERE crate_id = ? AND term_id IN ${LIST}`
const ADD_POSTINGS = `INSERT INTO postings (crate_id, term_id, rank)
  SELECT ?, CAST(value ->> 0 AS INTEGER), CAST(value ->> 1 AS INTEGER) FROM json_each(?)`

/** Returns the row of a term that enters, as `ENTER` takes it. */
function rowOf(term: string, words: ReadonlySet<string>): readonly unknown[] {
  return [term, hashOf(term), Number(words.has(term)), keyOf('start', term), keyOf('shape', term)]
}

function idsOf(terms: readonly Term[]): number[] {
  return terms.map(term => term.id)
}

/** Grades the words again whose number of crates has changed; returns the marks of their lists. */
async function changeLists(tx: Queries, changed: readonly Term[]): Promise<MarkSubject[]> {
  const moved = changed.filter(one => gradeOf(one.words) !== one.grade)
  if (moved.length === 0) return []
  const grades = moved.map(one => [one.id, gradeOf(one.words)])
  await run(tx, REGRADE, grades)
  const keys = moved.flatMap(({ term }) => [keyOf('start', term), keyOf('shape', term)])
  return marksOf('search', keys)
}

/** Returns the shelf of a crate with these ranks; null if it has none. */
function shelfIn(crateId: number, ranks: Findable['ranks']): number | null {
  const [rank] = ranks.values()
  return rank === undefined ? null : shelfOf(crateId, rank)
}

function bitmapChanges(
  terms: readonly Term[],
  ranks: Findable['ranks'],
  isFound: boolean,
): BitmapChange[] {
  return terms.flatMap(({ id, term, common }) =>
    common === 1 ? [{ termId: id, rank: ranks.get(term) ?? 0, isFound }] : [],
  )
}

/** Returns the marks of the files of the browser's search that change with a crate's terms. */
async function fileMarks(
  tx: Queries,
  own: readonly (number | null)[],
  { left, entered, stayed }: Record<'left' | 'entered' | 'stayed', readonly Term[]>,
): Promise<MarkSubject[]> {
  const changed = [...left, ...entered, ...stayed]
  // A term that has just become common, or is no longer common, has entirely different files.
  const turned = new Set([
    ...left.filter(term => term.crates === POSTINGS_MAX),
    ...entered.filter(term => term.crates === POSTINGS_MAX + 1),
  ])
  const common: number[] = []
  for (const one of changed.filter(term => term.crates > POSTINGS_MAX || turned.has(term))) {
    const all = turned.has(one) ? await shelvesOf(tx, one.id) : []
    for (const shelf of [...own.filter(one => one !== null), ...all.map(([shelf]) => shelf)])
      common.push(commonSubject(hashOf(one.term), shelf))
  }
  const hashes = changed.map(one => hashOf(one.term))
  return [...marksOf('search', hashes), ...marksOf('common', common)]
}
