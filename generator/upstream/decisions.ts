import { canonicalName, type Name } from '../../core/name.ts'
import type { Version } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { column, run, upsert } from '../database/statement.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'

/** Returns the versions of a crate that administrators have exempted from an upstream's hold. */
export async function allowedVersions(
  db: Database,
  upstream: string,
  name: Name,
): Promise<ReadonlySet<Version>> {
  const sql =
    'SELECT version FROM upstream_allowed WHERE upstream = ? AND crate = ? ORDER BY version'
  return new Set(await column<Version>(db, sql, upstream, canonicalName(name)))
}

/** Exempts a version from the hold of an upstream, or ends that; an audit event says who did. */
export async function decideVersion(
  db: Database,
  change: Change,
  decided: { readonly upstream: string; readonly name: Name; readonly version: Version },
  isAllowed: boolean,
): Promise<void> {
  const { upstream, name, version } = decided
  const crate = canonicalName(name)
  await makeChange(db, change, 'administrator', async (tx, by) => {
    const action = isAllowed ? 'upstream-allow' : 'upstream-hold'
    await addEvent(tx, by, { action, crate, version, detail: { upstream } })
    const row = { upstream, crate, version, at: by.at, actor: by.actor }
    if (isAllowed) return upsert(tx, 'upstream_allowed', ['upstream', 'crate', 'version'], row)
    const sql = 'DELETE FROM upstream_allowed WHERE upstream = ? AND crate = ? AND version = ?'
    await run(tx, sql, upstream, crate, version)
  })
}
