import {
  searchBlockPath,
  searchBucketPath,
  searchColumnPath,
  searchLayoutPath,
} from '../../../core/paths/search.ts'
import { COLUMNS, type Column } from '../../../core/search/files/columns.ts'
import {
  BLOCK_CRATES,
  bucketOf,
  HASH_BITS,
  layoutFor,
  SEARCH_FORMAT,
  type SearchLayout,
} from '../../../core/search/files/layout.ts'
import { type Queries, run, value } from '../../database/statement.ts'
import { readFact, writeFact } from '../../records/facts.ts'
import { type Mark, marksOf, setMarks } from '../../records/marks.ts'
import { rangesOf } from '../../records/pages/id-ranges.ts'
import { crateCount } from '../../records/pages/prefixes.ts'

/*
 * There are two kinds of marks for the search:
 *
 * - `search`: a crate that searches find by something else, by its id; or a file of a layout that
 *   is being written, by `NEXT` and the subject of the file. Those are rendered before all pages.
 * - `search-file`: a file of the layout that searches read, by its subject.
 */

/** The first subjects of each kind of file. */
const KIND = 2 ** 40
const BUCKETS = 0
const COLUMN = { ranks: KIND, rust: 2 * KIND } as const
const BLOCKS = 3 * KIND
const LAYOUT = 4 * KIND

/** What is added to the subject of a file of the next layout; ids of crates are lower. */
const NEXT = 5 * KIND

/** The mark of a layout that becomes the one that searches read. */
export const LAYOUT_MARK = { kind: 'search', subject: NEXT + LAYOUT } as const

/** A file of the search, besides the one of the layout. A bucket has one of its hashes. */
export type SearchFile =
  | { readonly what: 'bucket'; readonly shard: number; readonly hash: number }
  | { readonly what: Column; readonly number: number }
  | { readonly what: 'block'; readonly number: number }

/** The layouts whose files there are. */
export interface Layouts {
  /** The one that searches read; null before the first one is complete. */
  readonly now: SearchLayout | null
  /** The one whose files are being written; null when there is none. */
  readonly next: SearchLayout | null
}

const FACT = 'search_layouts'

/** Returns the layouts. */
export async function readLayouts(db: Queries): Promise<Layouts> {
  const fact = await readFact(db, FACT)
  return fact === null ? { now: null, next: null } : (JSON.parse(fact) as Layouts)
}

/** Returns the subject of a file in a layout: a bucket has that of its first hash. */
export function subjectOf(file: SearchFile, { bits }: SearchLayout): number {
  if (file.what === 'block') return BLOCKS + file.number
  if (file.what !== 'bucket') return COLUMN[file.what] + file.number
  const first = bucketOf(file.hash, bits) * 2 ** (HASH_BITS - bits)
  return BUCKETS + file.shard * 2 ** HASH_BITS + first
}

/** Returns the file of a mark; `layout` for the one of the layout, null for the mark of a crate. */
export function fileOf({
  kind,
  subject,
}: Pick<Mark, 'kind' | 'subject'>): SearchFile | 'layout' | null {
  if (kind === 'search' && subject < NEXT) return null
  const own = subject % NEXT
  const number = own % KIND
  if (own >= LAYOUT) return 'layout'
  if (own >= BLOCKS) return { what: 'block', number }
  if (own >= COLUMN.ranks) return { what: own >= COLUMN.rust ? 'rust' : 'ranks', number }
  return {
    what: 'bucket',
    shard: Math.floor(number / 2 ** HASH_BITS),
    hash: number % 2 ** HASH_BITS,
  }
}

/** Returns the path of a file in a layout. */
export function pathOf(file: SearchFile, { bits }: SearchLayout): string {
  if (file.what === 'block') return searchBlockPath(file.number)
  if (file.what !== 'bucket') return searchColumnPath(file.what, file.number)
  return searchBucketPath(bits, file.shard, bucketOf(file.hash, bits))
}

/** Returns all files of a layout. */
export async function filesOf(db: Queries, { bits, shards }: SearchLayout): Promise<SearchFile[]> {
  const files: SearchFile[] = []
  for (let shard = 0; shard < shards; shard++) {
    for (let hash = 0; hash < 2 ** HASH_BITS; hash += 2 ** (HASH_BITS - bits))
      files.push({ what: 'bucket', shard, hash })
    for (const what of COLUMNS) files.push({ what, number: shard })
  }
  for (const number of await rangesOf(db, BLOCK_CRATES)) files.push({ what: 'block', number })
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
 * here, so that no search finds neither a mark nor a layout. Returns the marks of the files that
 * searches read now.
 */
export async function markFiles(
  tx: Queries,
  files: readonly SearchFile[],
): Promise<readonly Mark[]> {
  const { now, next } = await readLayouts(tx)
  if (now === null && next === null) {
    await beginLayout(tx, null, await wantedLayout(tx))
    return []
  }
  const generation = await generationOf(tx)
  const current = marksOf('search-file', now ? files.map(file => subjectOf(file, now)) : [])
  const coming = marksOf('search', next ? files.map(file => NEXT + subjectOf(file, next)) : [])
  await setMarks(tx, [...current, ...coming], generation)
  return current.map(mark => ({ ...mark, generation }))
}

/**
 * Begins to derive and to write everything again, in a transaction. What another format has made is
 * of no use: until the new files are complete, there is no search.
 */
export async function beginWhole(tx: Queries): Promise<void> {
  const { now } = await readLayouts(tx)
  const isKept = now?.format === SEARCH_FORMAT
  if (!isKept)
    for (const table of ['search_terms', 'search_crates']) await run(tx, `DELETE FROM ${table}`)
  await run(
    tx,
    `INSERT INTO marks (kind, subject, generation) SELECT 'search', id, generation FROM crates
      WHERE true ON CONFLICT DO NOTHING`,
  )
  await beginLayout(tx, isKept ? now : null, await wantedLayout(tx))
}

/**
 * Follows marks that are done, in their transaction: tells searches that files have changed, begins
 * a layout if the registry has grown, and completes one whose files are written.
 */
export async function followSearch(tx: Queries, done: readonly Mark[]): Promise<void> {
  const own = done.filter(({ kind }) => kind === 'search' || kind === 'search-file')
  if (own.length === 0) return
  if (own.some(mark => fileOf(mark) !== null)) await run(tx, RENEW)
  const { now, next } = await readLayouts(tx)
  const wanted = await wantedLayout(tx)
  if (next === null) {
    const bits = Math.max(wanted.bits, now?.bits ?? 0)
    if (now && (bits > now.bits || wanted.shards > now.shards))
      await beginLayout(tx, now, { ...wanted, bits })
  } else if ((await value(tx, REST, NEXT)) === null)
    await setMarks(tx, [LAYOUT_MARK], await generationOf(tx))
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
): Promise<void> {
  await writeFact(tx, FACT, JSON.stringify({ now, next } satisfies Layouts))
  await run(tx, "DELETE FROM marks WHERE kind = 'search' AND subject >= ?", NEXT)
  const files = await filesOf(tx, next)
  const subjects = files.map(file => NEXT + subjectOf(file, next))
  await setMarks(tx, marksOf('search', subjects), await generationOf(tx))
}

/** Makes the next layout the one that searches read. All of its files are written, or marked. */
export async function finishLayout(tx: Queries): Promise<void> {
  const { now, next } = await readLayouts(tx)
  if (next === null) return
  await writeFact(tx, FACT, JSON.stringify({ now: next, next: null } satisfies Layouts))
  if (now?.bits !== next.bits) await run(tx, "DELETE FROM marks WHERE kind = 'search-file'")
}

async function wantedLayout(db: Queries): Promise<SearchLayout> {
  const last = (await value<number>(db, 'SELECT max(crate_id) FROM listings')) ?? 0
  return layoutFor(await crateCount(db), last)
}

/** Returns the number of the last change. */
export async function generationOf(db: Queries): Promise<number> {
  return (await value<number>(db, 'SELECT max(id) FROM audit')) ?? 0
}
