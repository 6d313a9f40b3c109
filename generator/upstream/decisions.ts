import type { Name } from '../../core/name.ts'
import { decisionKey } from '../../core/upstream/policy.ts'
import type { Version } from '../../core/version.ts'
import type { Queries } from '../database/statement.ts'
import { listAllowed } from './allowed.ts'

/** How long decisions are remembered, in milliseconds: other processes make some, too. */
const REMEMBERED_MS = 2000

/** The versions of an upstream that are exempted from its hold. */
export interface AllowedVersions {
  readonly has: (name: Name, version: Version) => boolean
}

/** Reads what administrators have decided about upstreams. */
export class Decisions {
  readonly #db: Queries
  readonly #now: () => Date
  readonly #read = new Map<string, { readonly until: number; readonly versions: Versions }>()

  constructor(db: Queries, now: () => Date) {
    this.#db = db
    this.#now = now
  }

  /** Returns what is allowed; the same object as before if nothing has changed. */
  async allowed(upstream: string): Promise<AllowedVersions> {
    const now = this.#now().getTime()
    const before = this.#read.get(upstream)
    if (before && before.until > now) return before.versions
    const rows = await listAllowed(this.#db, upstream)
    const keys = rows.map(({ crate, version }) => `${crate}@${version}`)
    const isSame = before?.versions.keys.join() === keys.join()
    const versions = before && isSame ? before.versions : new Versions(keys)
    this.#read.set(upstream, { until: now + REMEMBERED_MS, versions })
    return versions
  }

  /** Forgets what was read, after a decision of this process. */
  forget(): void {
    this.#read.clear()
  }
}

class Versions implements AllowedVersions {
  readonly keys: readonly string[]
  readonly has: AllowedVersions['has']

  constructor(keys: readonly string[]) {
    this.keys = keys
    const known = new Set(keys)
    this.has = (name, version) => known.has(decisionKey(name, version))
  }
}
