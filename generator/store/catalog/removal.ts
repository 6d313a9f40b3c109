import { versionIdentity } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { all, LIST, type Row, run, upsert } from '../database/statement.ts'
import { addEvent, type Change } from './change.ts'
import type { CrateRecord } from './crates.ts'
import { relist } from './listing.ts'
import { touchCrate } from './marks.ts'
import { nextRelease } from './publish.ts'
import { listVersions, type ReleaseRecord } from './releases.ts'

/** A release of another crate whose index line mentions a name, perhaps not as a dependency. */
export type Mention = Readonly<
  Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version' | 'line'>
>

/** Releases of other crates whose index line mentions `crate`; reads every release. */
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
 * Takes releases out of the catalog. The crate itself stays, with its owners, so that nobody else
 * can take its name; the versions stay taken by the bytes they had, because lock files name those.
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
      // The listing refers to releases: they go after it has changed.
      ...(await relist(tx, crate, left)),
    ]
    let generation = crate.generation
    for (const { version, cksum } of releases) {
      const row = { crate_id: crate.id, identity: versionIdentity(version), cksum }
      await upsert(tx, 'tombstones', ['crate_id', 'identity'], { ...row, deleted_at: change.at })
      const event = { action: 'delete', crate: crate.name, version, detail: { cksum } }
      generation = await addEvent(tx, change, event)
    }
    const kinds = ['file', 'release', 'source']
    const text = `DELETE FROM marks WHERE kind IN ${LIST} AND subject IN ${LIST}`
    await run(tx, text, kinds, [...removed])
    await run(tx, `DELETE FROM releases WHERE id IN ${LIST}`, [...removed])
    await touchCrate(tx, crate, marks, generation)
  })
}
