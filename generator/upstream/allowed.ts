import type { CanonicalName, Name } from '../../core/name.ts'
import { canonicalName } from '../../core/name.ts'
import type { Version } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { all, type Queries, run, upsert } from '../database/statement.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'

/** A version of an upstream that administrators have exempted from its hold. */
export interface AllowedVersion {
  readonly crate: CanonicalName
  readonly version: Version
  readonly at: string
  readonly actor: string
}

/** Lists what is exempted from the hold of an upstream. */
export function listAllowed(db: Queries, upstream: string): Promise<AllowedVersion[]> {
  const sql = `SELECT crate, version, at, actor FROM upstream_allowed
    WHERE upstream = ? ORDER BY crate, version`
  return all(db, sql, upstream)
}

/** Exempts a version from the hold of an upstream, or ends that; an audit event says who did. */
export function allowVersion(
  database: Database,
  change: Change,
  allowed: { readonly upstream: string; readonly name: Name; readonly version: Version },
  isAllowed: boolean,
): Promise<void> {
  const { upstream, name, version } = allowed
  const crate = canonicalName(name)
  return makeChange(database, change, async (tx, by) => {
    const action = isAllowed ? 'upstream-allow' : 'upstream-hold'
    await addEvent(tx, by, { action, crate, version, detail: { upstream } })
    const key = { upstream, crate, version }
    if (isAllowed) {
      const row = { ...key, at: by.at, actor: by.actor }
      await upsert(tx, 'upstream_allowed', ['upstream', 'crate', 'version'], row)
      return
    }
    const sql = 'DELETE FROM upstream_allowed WHERE upstream = ? AND crate = ? AND version = ?'
    await run(tx, sql, upstream, crate, version)
  })
}
