import { canonicalName, type Name } from '../../core/name.ts'
import type { Version } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { run, upsert } from '../database/statement.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'

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
