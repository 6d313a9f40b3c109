import { refuseErrors } from '../../../core/error/error.ts'
import type { Release } from '../../../core/release/release.ts'
import { compareVersions, type Version } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { type Queries, value } from '../database/statement.ts'
import { addEvent, type Change } from './change.ts'
import { type CrateRecord, insertCrate } from './crates.ts'
import { listAdded } from './listing.ts'
import { type MarkSubject, touchCrate } from './marks.ts'
import { insertRelease, type VersionRecord } from './releases.ts'
import { objectionsTo, readTarget, type Target } from './target.ts'

/** The result of adding a release; the crate is as the transaction left it. */
export interface Added {
  readonly outcome: 'added' | 'present'
  readonly crate: CrateRecord
}

/** Checks within the transaction whether a release may be added; throws a `Refusal` if not. */
export type Permit = (tx: Queries, target: Target) => Promise<void>

/** The kinds of marks whose files show only one release. */
export const OWN_MARKS = ['file', 'release', 'source'] as const

/**
 * Adds a release in one transaction, together with the crate if it is new, its first owner, the
 * audit event, and the marks for rendering. Returns `present` without any change when this exact
 * release already exists (a retry). Throws the `Refusal` of `permit` or of `objectionsTo`.
 */
export async function addRelease(
  database: Database,
  release: Release,
  change: Change,
  permit: Permit = async () => undefined,
): Promise<Added> {
  return database.transaction().execute(async tx => {
    const target = await readTarget(tx, release, change)
    await permit(tx, target)
    refuseErrors(objectionsTo(target, { ...release, cksum: release.entry.cksum }, change))
    if (target.crate && target.taken) return { outcome: 'present', crate: target.crate }
    const { name, version } = release
    const generation = await addEvent(tx, change, { action: 'publish', crate: name, version })
    const crate = target.crate ?? (await insertCrate(tx, name, change, generation))
    const added = await insertRelease(tx, crate.id, release, change)
    const marks: MarkSubject[] = [
      ...OWN_MARKS.map(kind => ({ kind, subject: added.id })),
      ...(target.crate ? nextRelease(await listIdentities(tx, crate.id), version) : []),
      ...(await listAdded(tx, crate, added)),
    ]
    await touchCrate(tx, crate, marks, generation)
    return { outcome: 'added', crate: { ...crate, generation } }
  })
}

type ReleaseVersion = Pick<VersionRecord, 'id' | 'version'>

/**
 * Returns the versions of a crate, without build metadata. They are read from a database index, as
 * one text: a row for each would take three times as long.
 */
async function listIdentities(tx: Queries, crateId: number): Promise<ReleaseVersion[]> {
  const text = `SELECT json_group_array(json_object('id', id, 'version', identity))
    FROM releases WHERE crate_id = ?`
  return JSON.parse((await value<string>(tx, text, crateId)) ?? '[]') as ReleaseVersion[]
}

/**
 * Returns the mark of the next higher version's page after `version` was added or removed: that
 * page shows the changes since the version before it.
 */
export function nextRelease(
  versions: readonly ReleaseVersion[],
  version: Version,
): readonly MarkSubject[] {
  let next: ReleaseVersion | null = null
  for (const one of versions) {
    if (compareVersions(one.version, version) <= 0) continue
    if (next === null || compareVersions(one.version, next.version) < 0) next = one
  }
  return next ? [{ kind: 'release', subject: next.id }] : []
}
