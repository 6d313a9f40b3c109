import { decisionKey, type UpstreamPolicy } from '../../core/upstream/policy.ts'
import { all, type Queries } from '../database/statement.ts'

/** How long decisions are remembered, in milliseconds: other processes make some, too. */
const REMEMBERED_MS = 2000

interface Remembered {
  readonly until: number
  readonly keys: string
  readonly isAllowed: UpstreamPolicy['isAllowed']
}

/** Reads what administrators have decided about upstreams. */
export class Decisions {
  readonly #db: Queries
  readonly #now: () => Date
  readonly #read = new Map<string, Remembered>()

  constructor(db: Queries, now: () => Date) {
    this.#db = db
    this.#now = now
  }

  /**
   * Returns what tells whether a version is exempted from the hold of an upstream; the same
   * function as before if nothing has changed.
   */
  async allowed(upstream: string): Promise<UpstreamPolicy['isAllowed']> {
    const now = this.#now().getTime()
    const before = this.#read.get(upstream)
    if (before && before.until > now) return before.isAllowed
    const sql =
      'SELECT crate, version FROM upstream_allowed WHERE upstream = ? ORDER BY crate, version'
    const rows = await all<{ crate: string; version: string }>(this.#db, sql, upstream)
    const known = new Set(rows.map(({ crate, version }) => `${crate}@${version}`))
    const keys = [...known].join()
    const isAllowed: UpstreamPolicy['isAllowed'] =
      before?.keys === keys
        ? before.isAllowed
        : (name, version) => known.has(decisionKey(name, version))
    this.#read.set(upstream, { until: now + REMEMBERED_MS, keys, isAllowed })
    return isAllowed
  }

  /** Forgets what was read, after a decision of this process. */
  forget(): void {
    this.#read.clear()
  }
}
