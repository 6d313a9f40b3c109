import { refuse } from '../../../core/error/error.ts'
import {
  covers,
  type Deprecation,
  isReason,
  isSuccessor,
  parseDeprecated,
} from '../../../core/notes/notes.ts'
import { all, insertAll, type Queries, run } from '../../database/statement.ts'
import { addEvent, type Change, makeChange } from '../../records/change.ts'
import { type Records, tellFollowers } from '../../records/crate-change.ts'
import { requireCrate } from '../../records/crates.ts'
import { requireOwner } from '../../records/owners.ts'
import { listVersions } from '../../records/releases.ts'

/** The most ranges of versions of a crate that are deprecated. */
const RANGES_MAX = 50

/** The most characters of a range: pages and events repeat it for each version. */
const RANGE_MAX = 200

/** Returns the deprecations of a crate; the first that covers a version is said of it. */
export function listDeprecations(db: Queries, crateId: number): Promise<Deprecation[]> {
  const sql = `SELECT requirement, reason, successor AS use FROM deprecations
    WHERE crate_id = ? ORDER BY requirement DESC`
  return all(db, sql, crateId)
}

/**
 * Says that a crate, or the versions of `NAME@REQUIREMENT`, should not be used any more, or takes
 * that back (null). Returns whether it was otherwise before. Refuses who is no owner, a reason that
 * is no paragraph, and a successor that is neither a crate's name nor an https address.
 */
export async function setDeprecated(
  { database, followers }: Records,
  spec: string,
  said: (Pick<Deprecation, 'use'> & { readonly reason: string }) | null,
  change: Change,
): Promise<boolean> {
  const { name, requirement } = parseDeprecated(spec)
  if (said && !isReason(said.reason)) refuse('reason_invalid')
  if (typeof said?.use === 'string' && !isSuccessor(said.use))
    refuse('successor_invalid', { use: said.use })
  if (said && requirement.length > RANGE_MAX) refuse('requirement_long', { max: RANGE_MAX })
  return makeChange(database, change, 'user', async (tx, by) => {
    const crate = await requireCrate(tx, name)
    const as = await requireOwner(tx, crate, by)
    const before = await listDeprecations(tx, crate.id)
    const old = before.find(each => each.requirement === requirement)
    if (old?.reason === said?.reason && old?.use === said?.use) return false
    if (said && !old && before.length >= RANGES_MAX)
      refuse('deprecations_many', { max: RANGES_MAX })
    const remove = 'DELETE FROM deprecations WHERE crate_id = ? AND requirement = ?'
    await run(tx, remove, crate.id, requirement)
    const row = { crate_id: crate.id, requirement, at: by.at }
    const { reason = null, use = null } = said ?? {}
    if (reason !== null) await insertAll(tx, 'deprecations', [{ ...row, reason, successor: use }])
    const detail = { requirement, reason, use, ...(as === 'administrator' && { as }) }
    const action = said ? 'deprecate' : 'undeprecate'
    const generation = await addEvent(tx, by, { action, crate: crate.name, detail })
    const versions = await listVersions(tx, crate.id)
    const altered = versions.filter(({ version }) => covers(requirement, version))
    const told = [{ type: 'crate.deprecated', versions: requirement, reason, use } as const]
    await tellFollowers(tx, followers, { crate, altered, isWords: true, told, by, generation })
    return true
  })
}
