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
import { all, type Queries, run, value } from '../../database/statement.ts'
import { writeFact } from '../../records/facts.ts'
import { type Mark, markSelected, marksOf, setMarks } from '../../records/marks.ts'
import { rangesOf } from '../../records/pages/id-ranges.ts'

/*
 * The subject of a mark says what is to be done. Crates come first, then what they change:
 *
 * - the id of a crate that searches find by something else,
 * - `NOW` and the subject of a file of the layout that searches read,
 * - `NEXT` and the subject of a file of the layout that is being written.
 */

/** The kinds of files, in the order of their subjects. */
const KINDS = ['bucket', ...COLUMNS, 'block', 'layout'] as const
const KIND = 2 ** 40

/** Ids of crates are lower. */
const NOW = KINDS.length * KIND
const NEXT = 2 * NOW

/** A file of the search: a block by its number, a bucket by one of its hashes. */
export interface SearchFile {
  readonly kind: (typeof KINDS)[number]
  readonly number: number
}

/** The layouts whose files there are. */
export interface Layouts {
  /** The one that searches read; null before the first one is complete. */
  readonly now: SearchLayout | null
  /** The one whose files are being written; null when there is none. */
  readonly next: SearchLayout | null
}

const FACT = 'search_layouts'

/** Returns the layouts, the number of crates, and that of the last change. */
export async function readLayouts(
  db: Queries,
): Promise<Layouts & { readonly crates: number; readonly generation: number }> {
  const sql = `SELECT (SELECT value FROM facts WHERE key = '${FACT}') AS layouts,
    coalesce((SELECT crates FROM prefixes WHERE prefix = ''), 0) AS crates,
    coalesce((SELECT max(id) FROM audit), 0) AS generation`
  const [row] = await all<{ layouts: string | null; crates: number; generation: number }>(db, sql)
  const { layouts = null, crates = 0, generation = 0 } = row ?? {}
  const { now, next } = JSON.parse(layouts ?? '{"now":null,"next":null}') as Layouts
  return { now, next, crates, generation }
}

/** Returns whether a file that searches read is marked, or crates are, whose files nobody knows. */
export async function isPending(
  db: Queries,
  file: SearchFile,
  layout: SearchLayout,
): Promise<boolean> {
  const sql = "SELECT 1 FROM marks WHERE kind = 'search' AND (subject < ? OR subject = ?) LIMIT 1"
  return (await value(db, sql, NOW, NOW + subjectOf(file, layout))) !== null
}

/** Returns the subject of a file in a layout: a bucket has that of its first hash. */
function subjectOf({ kind, number }: SearchFile, { bits }: SearchLayout): number {
  const own = kind === 'bucket' ? bucketOf(number, bits) * 2 ** (HASH_BITS - bits) : number
  return KINDS.indexOf(kind) * KIND + own
}

/** Returns the file of a mark; null for the mark of a crate. */
export function fileOf({ subject }: Pick<Mark, 'subject'>): SearchFile | null {
  if (subject < NOW) return null
  const own = subject % NOW
  return { kind: KINDS[Math.floor(own / KIND)] ?? 'layout', number: own % KIND }
}

/** Returns the layout of the file of a mark; null while none is complete, for the one read now. */
export function layoutOf({ subject }: Pick<Mark, 'subject'>, layouts: Layouts) {
  const { now, next } = layouts
  return subject < NEXT ? now : (next ?? now)
}

/** Returns the path of a file in a layout. */
export function pathOf({ kind, number }: SearchFile, { bits }: SearchLayout): string {
  if (kind === 'layout') return searchLayoutPath
  if (kind === 'block') return searchBlockPath(number)
  return kind === 'bucket' ? searchBucketPath(bits, bucketOf(number, bits)) : searchColumnPath(kind)
}

/** The file by which searches find the others; it is written when they are. */
export const LAYOUT_FILE: SearchFile = { kind: 'layout', number: 0 }

/** Returns all other files of a layout. */
export async function filesOf(db: Queries, { bits }: SearchLayout): Promise<SearchFile[]> {
  const files: SearchFile[] = COLUMNS.map(kind => ({ kind, number: 0 }))
  for (let number = 0; number < 2 ** HASH_BITS; number += 2 ** (HASH_BITS - bits))
    files.push({ kind: 'bucket', number })
  for (const number of await rangesOf(db, BLOCK_CRATES)) files.push({ kind: 'block', number })
  return files
}

/** Returns the paths of all files that there are, or will be. */
export async function searchPaths(db: Queries): Promise<Set<string>> {
  const { now, next } = await readLayouts(db)
  const paths = new Set(now ? [searchLayoutPath] : [])
  for (const layout of [now, next].filter(layout => layout !== null))
    for (const file of await filesOf(db, layout)) paths.add(pathOf(file, layout))
  return paths
}

/**
 * Marks files that change, in every layout that is read or being written. Begins the first layout
 * here, so that no search finds neither a mark nor a layout. Returns the layouts, and the marks of
 * the files that searches read now.
 */
export async function markFiles(
  tx: Queries,
  files: readonly SearchFile[],
): Promise<{ readonly layouts: Layouts; readonly next: readonly Mark[] }> {
  const { now, next, crates, generation } = await readLayouts(tx)
  if (now === null && next === null) {
    const layouts = { now, next: layoutFor(crates) }
    await beginLayout(tx, now, layouts.next, generation)
    return { layouts, next: [] }
  }
  const current = marksOf('search', now ? files.map(file => NOW + subjectOf(file, now)) : [])
  const coming = marksOf('search', next ? files.map(file => NEXT + subjectOf(file, next)) : [])
  await setMarks(tx, [...current, ...coming], generation)
  return { layouts: { now, next }, next: current.map(mark => ({ ...mark, generation })) }
}

/** Begins to derive and write everything again; what another format has made is of no use. */
export async function beginWhole(tx: Queries): Promise<void> {
  const { now, crates, generation } = await readLayouts(tx)
  const isKept = now?.format === SEARCH_FORMAT
  if (!isKept)
    for (const table of ['search_terms', 'search_crates']) await run(tx, `DELETE FROM ${table}`)
  await markSelected(tx, 'search', 'SELECT id AS subject, generation FROM crates')
  await beginLayout(tx, isKept ? now : null, layoutFor(crates), generation)
}

/**
 * Follows marks that are done, in their transaction: tells searches that files have changed, begins
 * a layout if the registry has grown, and completes one whose files are written.
 */
export async function followSearch(tx: Queries, done: readonly Mark[]): Promise<void> {
  const own = done.filter(({ kind }) => kind === 'search')
  if (own.length === 0) return
  if (own.some(mark => fileOf(mark) !== null)) await run(tx, RENEW)
  const { now, next, crates, generation } = await readLayouts(tx)
  const wanted = layoutFor(crates)
  if (now && next === null && wanted.bits > now.bits) await beginLayout(tx, now, wanted, generation)
  if (next && (await value(tx, REST, NEXT)) === null)
    await setMarks(tx, marksOf('search', [NEXT + subjectOf(LAYOUT_FILE, next)]), generation)
}

const RENEW = "UPDATE counts SET n = n + 1 WHERE what = 'search'"
const REST = "SELECT 1 FROM marks WHERE kind = 'search' AND subject >= ? LIMIT 1"

/** Returns a number that grows when files that searches read have changed. */
export async function searchVersion(db: Queries): Promise<number> {
  return (await value<number>(db, "SELECT n FROM counts WHERE what = 'search'")) ?? 0
}

async function beginLayout(
  tx: Queries,
  now: SearchLayout | null,
  next: SearchLayout,
  generation: number,
): Promise<void> {
  await writeFact(tx, FACT, JSON.stringify({ now, next } satisfies Layouts))
  await run(tx, "DELETE FROM marks WHERE kind = 'search' AND subject >= ?", NEXT)
  const subjects = (await filesOf(tx, next)).map(file => NEXT + subjectOf(file, next))
  await setMarks(tx, marksOf('search', subjects), generation)
}

/** Makes the next layout the one that searches read. All of its files are written, or marked. */
export async function finishLayout(tx: Queries): Promise<void> {
  const { now, next } = await readLayouts(tx)
  if (next === null) return
  await writeFact(tx, FACT, JSON.stringify({ now: next, next: null } satisfies Layouts))
  const files = "DELETE FROM marks WHERE kind = 'search' AND subject >= ? AND subject < ?"
  if (now?.bits !== next.bits) await run(tx, files, NOW, NEXT)
}
