import { type Requiring, shardOf } from '../../../core/impact/dependents.ts'
import { type CanonicalName, canonicalName, isName, type Name } from '../../../core/name.ts'
import type { Requirement } from '../../../core/requirement.ts'
import type { Version } from '../../../core/version.ts'
import { all, insertAll, type Queries, type Row, value } from '../../database/statement.ts'
import { lastChange, marksOf, setMarks } from '../../records/marks.ts'
import { listVersions, releaseDependencies, releaseLocks } from '../../records/releases.ts'
import { filesOf, firstPlace } from './files.ts'

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
  const found = new Map<CanonicalName, Ways>()
  const add = (name: Name, how: Omit<Requiring, 'versions'>, version: Version) => {
    const ways: Ways = found.get(canonicalName(name)) ?? new Map()
    found.set(canonicalName(name), ways)
    const key = `${how.kind} ${how.registry} ${how.requirement}`
    const way = ways.get(key) ?? { ...how, versions: [] }
    ways.set(key, way)
    if (way.versions.at(-1) !== version) way.versions.push(version)
  }
  const releases = await listVersions(tx, crateId)
  const idsOf = (some: typeof releases) => some.map(({ id }) => id)
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
  return found
}
