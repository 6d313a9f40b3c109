import { SHARDS, TOGETHER } from '../../../core/impact/dependents.ts'
import type { CanonicalName, Name } from '../../../core/name.ts'
import { dependentsPath, impactPath } from '../../../core/paths/dependents.ts'
import { type Output, output } from '../../../core/paths/tree.ts'
import { sha256Bytes } from '../../../core/sha256.ts'
import { all, column, type Queries, value } from '../../database/statement.ts'
import type { Mark } from '../../records/marks.ts'
import type { PageContext } from '../context.ts'
import { replaceFiles } from '../pages.ts'

/*
 * The subject of a mark is the id of a crate that requires others; or from here on, the place of a
 * file: of a shard, or after all shards of a crate, of the file by which they are found.
 */
export const FILES = 2 ** 52
const WIDTH = 2 * SHARDS

/** A condition on places; takes the first and the last one. */
const IN_RANGE = "place BETWEEN ? AND ? AND dependency = ? AND text <> ''"

/** Returns the first place of what requires a crate; others may have the same places. */
export function firstPlace(crate: CanonicalName): number {
  return sha256Bytes(crate).readUIntBE(0, 5) * WIDTH
}

/** A row that came, went, or has another text. */
interface ChangedRow {
  readonly place: number
  readonly dependency: CanonicalName
  readonly change: 'came' | 'went' | 'same'
}

/** Returns the marks of the files that a changed row changes: all when the crate gets shards. */
export async function filesOf(
  db: Queries,
  { place, dependency, change }: ChangedRow,
): Promise<number[]> {
  const first = firstPlace(dependency)
  const head = FILES + first + SHARDS
  const count = await countRows(db, dependency)
  if (count !== { came: TOGETHER + 1, went: TOGETHER, same: 0 }[change])
    return [count > TOGETHER ? FILES + place : head]
  const sql = `SELECT place FROM requirements WHERE ${IN_RANGE}`
  const places = await column<number>(db, sql, first, first + SHARDS, dependency)
  return [...places, place].map(other => FILES + other).concat(head)
}

/** Counts what requires a crate, up to what has shards for certain. */
async function countRows(db: Queries, crate: CanonicalName): Promise<number> {
  const first = firstPlace(crate)
  const sql = `SELECT count(*) FROM (SELECT 1 FROM requirements WHERE ${IN_RANGE} LIMIT ?) AS part`
  return (await value<number>(db, sql, first, first + SHARDS, crate, TOGETHER + 2)) ?? 0
}

/** Writes, or removes, the file of a mark. */
export async function writeFile(context: PageContext, { subject }: Mark): Promise<void> {
  const { database } = context
  const place = subject - FILES
  const shard = place % WIDTH
  const first = place - shard
  const sql = 'SELECT DISTINCT dependency FROM requirements WHERE place BETWEEN ? AND ?'
  for (const crate of await column<CanonicalName>(database, sql, first, first + SHARDS)) {
    const outputs = await renderDependents(context, crate, place)
    const head = [dependentsPath(crate), impactPath(crate)]
    const gone = shard === SHARDS ? head : [dependentsPath(crate, shard)]
    await replaceFiles(context, outputs, gone)
  }
}

/** Renders the files of what requires a crate: of one place, or all; the head comes last. */
export async function renderDependents(
  { database: db, site }: PageContext,
  crate: CanonicalName,
  place: number | null = null,
): Promise<Output[]> {
  const first = firstPlace(crate)
  const isSharded = (await countRows(db, crate)) > TOGETHER
  const [from, to] = isSharded && place !== null ? [place, place] : [first, first + SHARDS]
  const sql = `SELECT place, name, text FROM requirements JOIN crates ON crates.id = crate_id
    WHERE ${IN_RANGE}`
  type Found = { readonly place: number; readonly name: Name; readonly text: string }
  const files = new Map<string, string[]>()
  for (const { place: at, name, text } of await all<Found>(db, sql, from, to, crate)) {
    const path = dependentsPath(crate, isSharded ? at - first : undefined)
    const lines = files.get(path) ?? []
    files.set(path, lines)
    lines.push(`{"crate":"${name}","requires":${text}}`)
  }
  const outputs = Array.from(files, ([path, lines]) =>
    output(path, `{"dependents":[\n${lines.sort().join(',\n')}\n]}\n`),
  )
  if (to < first + SHARDS) return outputs
  const head = output(dependentsPath(crate), `${JSON.stringify({ shards: SHARDS })}\n`)
  const [list] = outputs
  // Loaded when something is rendered: most commands only open the registry.
  const { impactPage } = await import('../../../site/pages/impact.ts')
  if (isSharded) return [...outputs, head, impactPage(site, crate, null)]
  return list ? [list, impactPage(site, crate, JSON.parse(list.bytes.toString()).dependents)] : []
}

/** Yields every crate that others require, with its first place. */
export async function* requiredCrates(
  db: Queries,
): AsyncIterable<{ readonly crate: CanonicalName; readonly first: number }> {
  const next = "SELECT min(place) FROM requirements WHERE place > ? AND text <> ''"
  const sql = `SELECT DISTINCT dependency FROM requirements
    WHERE place BETWEEN ? AND ? AND text <> ''`
  for (let last = -1; ; ) {
    const place = await value<number>(db, next, last)
    if (place === null) return
    const first = place - (place % WIDTH)
    last = first + SHARDS
    for (const crate of await column<CanonicalName>(db, sql, first, last)) yield { crate, first }
  }
}
