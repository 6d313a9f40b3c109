import {
  searchBlockPath,
  searchBucketPath,
  searchColumnPath,
  searchLayoutPath,
} from '../../../core/paths/search.ts'
import { COLUMNS } from '../../../core/search/columns.ts'
import {
  BLOCK_CRATES,
  bucketOf,
  HASH_BITS,
  layoutFor,
  SEARCH_FORMAT,
  type SearchLayout,
} from '../../../core/search/layout.ts'
import { one, type Queries, run, value } from '../../database/statement.ts'
import { writeFact } from '../../records/facts.ts'
import { type Mark, markSelected, marksOf, setMarks } from '../../records/marks.ts'
import { rangesOf } from '../../records/pages/overviews.ts'

/*
 * The subject of a mark says what is to be done: the id of a crate that searches find by something
 * else, or `FILES` and the subject of a file. The layout comes last, and renders all files.
 */

/** The kinds of files, in the order of their subjects. */
const KINDS = ['bucket', ...COLUMNS, 'block', 'layout'] as const
const KIND = 2 ** 40

/** Ids of crates are lower. Earlier versions have marked files of a second layout above these. */
const FILES = KINDS.length * KIND

/** A file of the search: a block by its number, a bucket by one of its hashes. */
export interface SearchFile {
  readonly kind: (typeof KINDS)[number]
  readonly number: number
}

const FACT = 'search_layouts'

/** What the files of a search depend on. */
interface SearchState {
  /** The layout that searches read; null before the first one is complete. */
  readonly layout: SearchLayout | null
  readonly crates: number
  /** The number of the last change. */
  readonly generation: number
}

/** Returns the layout that searches read, and what decides about the next one. */
export async function readLayout(db: Queries): Promise<SearchState> {
  const sql = `SELECT (SELECT value FROM facts WHERE key = '${FACT}') AS layouts,
    coalesce((SELECT crates FROM prefixes WHERE prefix = ''), 0) AS crates,
    coalesce((SELECT max(id) FROM audit), 0) AS generation`
  const { layouts, ...rest } = await one<
    Omit<SearchState, 'layout'> & { readonly layouts: string | null }
  >(db, sql)
  return { layout: JSON.parse(layouts ?? '{"now":null}').now, ...rest }
}

/** Makes a layout the one that searches read; its files are written. */
export function keepLayout(db: Queries, layout: SearchLayout): Promise<void> {
  return writeFact(db, FACT, JSON.stringify({ now: layout, next: null }))
}

/** Returns whether a file that searches read is marked, or crates are, whose files nobody knows. */
export async function isPending(
  db: Queries,
  file: SearchFile,
  layout: SearchLayout,
): Promise<boolean> {
  const sql = "SELECT 1 FROM marks WHERE kind = 'search' AND (subject < ? OR subject = ?) LIMIT 1"
  return (await value(db, sql, FILES, subjectOf(file, layout))) !== null
}

/** Returns the subject of a file in a layout: a bucket has that of its first hash. */
function subjectOf({ kind, number }: SearchFile, { bits }: SearchLayout): number {
  const own = kind === 'bucket' ? bucketOf(number, bits) * 2 ** (HASH_BITS - bits) : number
  return FILES + KINDS.indexOf(kind) * KIND + own
}

/** Returns the file of a mark; null for the mark of a crate. */
export function fileOf({ subject }: Pick<Mark, 'subject'>): SearchFile | null {
  if (subject < FILES) return null
  const own = subject % FILES
  return { kind: KINDS[Math.floor(own / KIND)] ?? 'layout', number: own % KIND }
}

/** Returns the path of a file in a layout. */
export function pathOf({ kind, number }: SearchFile, { bits }: SearchLayout): string {
  if (kind === 'layout') return searchLayoutPath
  if (kind === 'block') return searchBlockPath(number)
  return kind === 'bucket' ? searchBucketPath(bits, bucketOf(number, bits)) : searchColumnPath(kind)
}

/** Returns all files of a layout, besides the one by which searches find the others. */
export async function filesOf(db: Queries, { bits }: SearchLayout): Promise<SearchFile[]> {
  const files: SearchFile[] = COLUMNS.map(kind => ({ kind, number: 0 }))
  for (let number = 0; number < 2 ** HASH_BITS; number += 2 ** (HASH_BITS - bits))
    files.push({ kind: 'bucket', number })
  for (const number of await rangesOf(db, BLOCK_CRATES)) files.push({ kind: 'block', number })
  return files
}

/** The file by which searches find the others; it is written after them. */
export const LAYOUT_FILE: SearchFile = { kind: 'layout', number: 0 }

/**
 * Marks files that change, and here the layout, if the registry has outgrown it, so that no search
 * finds neither a mark nor a layout. Returns the layout, and the marks of the files.
 */
export async function markFiles(
  tx: Queries,
  files: readonly SearchFile[],
): Promise<{ readonly layout: SearchLayout | null; readonly next: readonly Mark[] }> {
  const { layout, crates, generation } = await readLayout(tx)
  // The first layout will have all files.
  const marks = layout ? files.map(file => subjectOf(file, layout)) : []
  await setMarks(tx, marksOf('search', marks), generation)
  if (layout === null || layout.bits < layoutFor(crates).bits) await markLayout(tx, generation)
  return { layout, next: marksOf('search', marks).map(mark => ({ ...mark, generation })) }
}

/** Marks the layout, unless it is marked: it may wait because it failed. */
function markLayout(tx: Queries, generation: number): Promise<unknown> {
  const subject = FILES + KINDS.indexOf('layout') * KIND
  return markSelected(tx, 'search', `SELECT ${subject} AS subject, ${generation} AS generation`)
}

/**
 * Begins to derive and to write everything again, in a transaction. What another format has made is
 * of no use: until the new files are complete, there is no search.
 */
export async function beginWhole(tx: Queries): Promise<void> {
  const { layout, generation } = await readLayout(tx)
  if (layout?.format !== SEARCH_FORMAT) {
    for (const table of ['search_terms', 'search_crates']) await run(tx, `DELETE FROM ${table}`)
    await writeFact(tx, FACT, null)
  }
  await markSelected(tx, 'search', 'SELECT id AS subject, generation FROM crates')
  await markLayout(tx, generation)
}

/** Tells searches, in the transaction that clears marks, that files have changed. */
export async function followSearch(tx: Queries, done: readonly Mark[]): Promise<void> {
  if (done.some(mark => mark.kind === 'search' && fileOf(mark) !== null))
    await run(tx, "UPDATE counts SET n = n + 1 WHERE what = 'search'")
}

/** Returns a number that grows when files that searches read have changed. */
export async function searchVersion(db: Queries): Promise<number> {
  return (await value<number>(db, "SELECT n FROM counts WHERE what = 'search'")) ?? 0
}
