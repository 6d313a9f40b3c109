import { canonicalName, type Name } from '../../core/name.ts'
import { decisionKey, type UpstreamPolicy } from '../../core/upstream/policy.ts'
import type { Version } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { all, run, upsert } from '../database/statement.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'

type IsAllowed = UpstreamPolicy['isAllowed']

/** How long decisions are remembered, in milliseconds: other processes make some, too. */
const REMEMBERED_MS = 2000

/** What administrators have decided about upstreams. */
export class Decisions {
  readonly #db: Database
  readonly #now: () => Date
  readonly #read = new Map<string, { until: number; keys: string; isAllowed: IsAllowed }>()

  constructor(db: Database, now: () => Date) {
    this.#db = db
    this.#now = now
  }

  /**
   * Returns what tells whether a version is exempted from the hold of an upstream; the same
   * function as before if nothing has changed.
   */
  async allowed(upstream: string): Promise<IsAllowed> {
    const now = this.#now().getTime()
    const before = this.#read.get(upstream)
    if (before && before.until > now) return before.isAllowed
    const sql =
      'SELECT crate, version FROM upstream_allowed WHERE upstream = ? ORDER BY crate, version'
    const rows = await all<{ crate: string; version: string }>(this.#db, sql, upstream)
    const known = new Set(rows.map(({ crate, version }) => `${crate}@${version}`))
    const keys = [...known].join()
    const isAllowed: IsAllowed =
      before?.keys === keys
        ? before.isAllowed
        : (name, version) => known.has(decisionKey(name, version))
    this.#read.set(upstream, { until: now + REMEMBERED_MS, keys, isAllowed })
    return isAllowed
  }

  /** Exempts a version from the hold of an upstream, or ends that; an audit event says who did. */
  async decide(
    change: Change,
    decided: { readonly upstream: string; readonly name: Name; readonly version: Version },
    isAllowed: boolean,
  ): Promise<void> {
    const { upstream, name, version } = decided
    const crate = canonicalName(name)
    await makeChange(this.#db, change, async (tx, by) => {
      const action = isAllowed ? 'upstream-allow' : 'upstream-hold'
      await addEvent(tx, by, { action, crate, version, detail: { upstream } })
      const row = { upstream, crate, version, at: by.at, actor: by.actor }
      if (isAllowed) return upsert(tx, 'upstream_allowed', ['upstream', 'crate', 'version'], row)
      const sql = 'DELETE FROM upstream_allowed WHERE upstream = ? AND crate = ? AND version = ?'
      await run(tx, sql, upstream, crate, version)
    })
    this.#read.delete(upstream)
  }
}
