import { parseEntry } from '../../../core/entry/parse.ts'
import { renderEntry } from '../../../core/entry/render.ts'
import { refuse } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { all, LIST, type Row, run, upsert } from '../database/statement.ts'
import { addEvent, type Change } from './change.ts'
import type { CrateRecord } from './crates.ts'
import { relist } from './listing.ts'
import { touchCrate } from './marks.ts'
import { nextRelease, OWN_MARKS } from './publish.ts'
import { listVersions, type ReleaseRecord } from './releases.ts'
import { readTarget } from './target.ts'

/**
 * Yanks or unyanks a release; `changed` is false when it already was. Refuses an unknown release
 * and an actor who may not change the crate.
 */
export async function setYanked(
  database: Database,
  name: Name,
  version: Version,
  yanked: boolean,
  change: Change,
): Promise<{ crateId: number; changed: boolean }> {
  return database.transaction().execute(async tx => {
    const { crate, mayChange, taken } = await readTarget(tx, { name, version }, change)
    if (!crate) return refuse('crate_unknown', { name })
    if (!mayChange) refuse('not_owner', { name: crate.name, login: change.actor })
    if (!taken) return refuse('release_unknown', { name: crate.name, version })
    if (taken.version !== version)
      refuse('release_other_build', { name: crate.name, version, existing: taken.version })
    if (taken.yanked === yanked) return { crateId: crate.id, changed: false }
    const line = renderEntry({ ...parseEntry(taken.line), yanked })
    const text = 'UPDATE releases SET yanked = ?, line = ? WHERE id = ?'
    await run(tx, text, Number(yanked), line, taken.id)
    const generation = await addEvent(tx, change, {
      action: yanked ? 'yank' : 'unyank',
      crate: crate.name,
      version: taken.version,
    })
    const marks = await relist(tx, crate, await listVersions(tx, crate.id))
    await touchCrate(tx, crate, [{ kind: 'release', subject: taken.id }, ...marks], generation)
    return { crateId: crate.id, changed: true }
  })
}

/** A release whose index line mentions another crate's name, perhaps not as a dependency. */
export type Mention = Readonly<
  Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version' | 'line'>
>

/** Returns the releases of other crates whose index line mentions `crate`; reads every release. */
export function mentions(database: Database, crate: CrateRecord): Promise<Mention[]> {
  return all(
    database,
    `SELECT crates.name, releases.version, releases.line
      FROM releases JOIN crates ON crates.id = releases.crate_id
      WHERE releases.crate_id <> ? AND instr(releases.line, ?) > 0`,
    crate.id,
    JSON.stringify(crate.name),
  )
}

/**
 * Removes releases from the catalog. The crate and its owners stay, so that no one else can take
 * its name. A version may come back only with the same bytes: lock files contain its checksum.
 */
export async function removeReleases(
  database: Database,
  crate: CrateRecord,
  releases: readonly ReleaseRecord[],
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const removed = new Set(releases.map(one => one.id))
    const left = (await listVersions(tx, crate.id)).filter(one => !removed.has(one.id))
    const marks = [
      { kind: 'whole', subject: crate.id } as const,
      ...releases.flatMap(one => nextRelease(left, one.version)),
      // The listing refers to releases: they are deleted after it has changed.
      ...(await relist(tx, crate, left)),
    ]
    let generation = crate.generation
    for (const { version, cksum } of releases) {
      const row = { crate_id: crate.id, identity: versionIdentity(version), cksum }
      await upsert(tx, 'tombstones', ['crate_id', 'identity'], { ...row, deleted_at: change.at })
      const event = { action: 'delete', crate: crate.name, version, detail: { cksum } }
      generation = await addEvent(tx, change, event)
    }
    const text = `DELETE FROM marks WHERE kind IN ${LIST} AND subject IN ${LIST}`
    await run(tx, text, OWN_MARKS, [...removed])
    await run(tx, `DELETE FROM releases WHERE id IN ${LIST}`, [...removed])
    await touchCrate(tx, crate, marks, generation)
  })
}
