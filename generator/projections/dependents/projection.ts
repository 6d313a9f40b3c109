// generator/projections/dependents: Which versions require each crate. The list of projections has
// it; core/impact reads its files, never this room.
import { type Requiring, SHARDS, shardOf, TOGETHER } from '../../../core/impact/dependents.ts'
import { type CanonicalName, canonicalName, isName, type Name } from '../../../core/name.ts'
import { DEPENDENTS_FOLDER, dependentsPath, impactPath } from '../../../core/paths/dependents.ts'
import { isOwnPath } from '../../../core/paths/own.ts'
import { type Output, output } from '../../../core/paths/tree.ts'
import type { Requirement } from '../../../core/requirement.ts'
import { sha256Bytes } from '../../../core/sha256.ts'
import type { Version } from '../../../core/version.ts'
import {
  all,
  column,
  insertAll,
  type Queries,
  type Row,
  run,
  value,
} from '../../database/statement.ts'
import { lastChange, type Mark, markSelected, marksOf, setMarks } from '../../records/marks.ts'
import { listVersions, releaseDependencies } from '../../records/releases.ts'
import { releaseLocks } from '../../records/releases-stored.ts'
import type { PageContext } from '../context.ts'
import { type Pages, replaceFiles } from '../pages.ts'

/** What requires each crate: first the rows of crates that have changed, then files of these. */
export const dependents: Pages = {
  kind: 'dependents',
  work: 'lists of what requires crates',
  of: 'crate',
  due: 'soon',
  async changed(_, { crate, added, removed }) {
    const requires = added.some(({ deps, locked }) => deps !== '[]' || locked !== '[]')
    return marksOf('dependents', requires || removed.length > 0 ? [crate.id] : [])
  },
  async render(context, mark) {
    if (mark.subject >= FILES) await writeFile(context, mark)
    else await context.database.transaction(tx => changeRequirements(tx, mark.subject))
    return { done: [mark] }
  },
  async markAll(tx) {
    await run(tx, 'DELETE FROM requirements')
    await markSelected(tx, 'dependents', 'SELECT id AS subject, generation FROM crates')
  },
  async *parts(context) {
    const { database } = context
    // A file is pending, too, as long as crates are marked, whose files nobody knows.
    const sql = `SELECT 1 FROM marks WHERE kind = 'dependents'
      AND (subject < ${FILES} OR subject BETWEEN ? AND ?) LIMIT 1`
    for await (const { crate, first } of requiredCrates(database)) {
      const marks = [FILES + first, FILES + first + SHARDS]
      yield {
        about: crate,
        pending: async () => (await value(database, sql, ...marks)) !== null,
        render: () => renderDependents(context, crate),
      }
    }
  },
  leftover: { folders: [DEPENDENTS_FOLDER], isOwn: isOwnPath },
}

/** Brings the rows of a crate in line with its releases, and marks the files that change. */
export async function changeRequirements(tx: Queries, crateId: number): Promise<void> {
  const before = new Map<string, Row<'requirements'>>()
  const keyOf = ({ place, dependency }: Row<'requirements'>) => `${place} ${dependency}`
  const sql = 'SELECT place, dependency, crate_id, text FROM requirements WHERE crate_id = ?'
  for (const row of await all<Row<'requirements'>>(tx, sql, crateId)) before.set(keyOf(row), row)
  const rows = new Map(Array.from(before, ([key, row]) => [key, { ...row, text: '' }]))
  const canonical = 'SELECT canonical FROM crates WHERE id = ?'
  const shard = shardOf((await value<CanonicalName>(tx, canonical, crateId)) ?? canonicalName(''))
  for (const [dependency, ways] of await requirementsOf(tx, crateId)) {
    const text = JSON.stringify([...ways.values()])
    const row = { place: firstPlace(dependency) + shard, dependency, crate_id: crateId, text }
    rows.set(keyOf(row), row)
  }
  // A row without a text stays: it tells what else was in the file.
  const changed = [...rows.values()].filter(row => before.get(keyOf(row))?.text !== row.text)
  const conflict = 'ON CONFLICT (place, dependency, crate_id) DO UPDATE SET text = excluded.text'
  await insertAll(tx, 'requirements', changed, conflict)
  const files: number[] = []
  for (const row of changed) {
    const change = row.text === '' ? 'went' : before.get(keyOf(row))?.text ? 'same' : 'came'
    files.push(...(await filesOf(tx, { ...row, change })))
  }
  await setMarks(tx, marksOf('dependents', files), await lastChange(tx))
}

/** Releases whose dependencies are in memory at once. */
const SLICE = 200

type Ways = Map<string, Requiring & { readonly versions: Version[] }>

/** Of a crate, so many of the newest versions tell what they ship with. */
const SHIPPED = 100

/** Returns how the versions of a crate require others. */
async function requirementsOf(tx: Queries, crateId: number): Promise<Map<CanonicalName, Ways>> {
  const required = new Map<CanonicalName, Ways>()
  const add = (name: Name, how: Omit<Requiring, 'versions'>, version: Version) => {
    const ways: Ways = required.get(canonicalName(name)) ?? new Map()
    required.set(canonicalName(name), ways)
    const key = `${how.kind} ${how.registry} ${how.requirement}`
    const way = ways.get(key) ?? { ...how, versions: [] }
    ways.set(key, way)
    if (way.versions.at(-1) !== version) way.versions.push(version)
  }
  const releases = await listVersions(tx, crateId)
  const idsOf = (slice: typeof releases) => slice.map(({ id }) => id)
  for (let from = 0; from < releases.length; from += SLICE) {
    const slice = releases.slice(from, from + SLICE)
    const all = await releaseDependencies(tx, idsOf(slice))
    for (const { id, version } of slice)
      for (const { req, kind, registry, ...dep } of all.get(id) ?? []) {
        const name = dep.package ?? dep.name
        // Other registries may have written anything, and this becomes a path.
        if (isName(name)) add(name, { requirement: req as Requirement, kind, registry }, version)
      }
  }
  const locks = await releaseLocks(tx, idsOf(releases.slice(-SHIPPED)))
  for (const { id, version } of releases.slice(-SHIPPED))
    for (const [registry, packages] of locks.get(id) ?? [])
      for (const each of packages) {
        const [name = '', only] = each.split(' ')
        const requirement = `=${only}` as Requirement
        add(name as Name, { requirement, kind: 'ships with', registry }, version)
      }
  return required
}

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
