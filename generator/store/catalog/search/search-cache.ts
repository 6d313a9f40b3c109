import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type Queries, value } from '../../database/statement.ts'
import { type CrateBytes, readCrateBytes } from './crate-bytes.ts'
import { type Sets, sizeOf } from './crate-sets.ts'
import { hasPendingTerms, refreshTerms } from './pending-terms.ts'

/** Bytes of the sets of crates that are kept: those of some 80 words among 200,000 crates. */
const MAX_BYTES = 32 * 1024 * 1024

/** The longest that a search waits for what others have changed, in milliseconds. */
const COMPLETE_MS = 500

/**
 * SQLite's counter of the commits that the reading connection has not made itself; of PostgreSQL,
 * what a statement sees.
 */
const DATA_VERSION = 'SELECT data_version FROM pragma_data_version'

type Version = number | string | null

/**
 * What searches have read of one version of a database. Whatever is written there, by this process
 * or by another one, makes another version. Most searches come between two publishes.
 */
export class SearchCache {
  readonly #db: Queries
  readonly #version: Version
  readonly #sets = new LRUCache<string, Sets>({ maxSize: MAX_BYTES, sizeCalculation: sizeOf })
  #bytes: CrateBytes | null = null
  /** Whether no change waits, in this version, to be found. */
  #isComplete = false

  private constructor(db: Queries, version: Version) {
    this.#db = db
    this.#version = version
  }

  /** Returns the cache of what a database holds now. A search asks for it before it reads. */
  static async of(db: Queries): Promise<SearchCache> {
    const version = await value<number | string>(db, DATA_VERSION)
    const known = caches.get(db)
    if (known && known.#version === version) return known
    const cache = new SearchCache(db, version)
    caches.set(db, cache)
    return cache
  }

  /**
   * Returns the cache of what a database holds after searches find crates by all changes. If that
   * takes longer than half a second, or cannot be written, searches make do with what there is.
   */
  static async complete(db: Queries): Promise<SearchCache> {
    const end = performance.now() + COMPLETE_MS
    for (;;) {
      const cache = await SearchCache.of(db)
      if (cache.#isComplete || db.isTransaction) return cache
      cache.#isComplete = !(await hasPendingTerms(db))
      if (cache.#isComplete) return cache
      const rest = end - performance.now()
      if (rest <= 0 || !(await isDone(refreshed(db), rest))) return SearchCache.of(db)
    }
  }

  /** Returns what the database knows of each crate. */
  async crateBytes(): Promise<CrateBytes> {
    if (this.#bytes) return this.#bytes
    const bytes = await readCrateBytes(this.#db)
    if (await this.#isCurrent()) this.#bytes = bytes
    return bytes
  }

  /** Returns the sets that are kept under a key, or reads them. */
  async sets(key: string, read: () => Promise<Sets>): Promise<Sets> {
    const known = this.#sets.get(key)
    if (known) return known
    const sets = await read()
    if (await this.#isCurrent()) this.#sets.set(key, sets)
    return sets
  }

  /** Whether nothing has been written meanwhile; a transaction may be undone. */
  async #isCurrent(): Promise<boolean> {
    return (
      !this.#db.isTransaction &&
      (await value<number | string>(this.#db, DATA_VERSION)) === this.#version
    )
  }
}

const caches = new WeakMap<Queries, SearchCache>()
const refreshing = new WeakMap<Queries, Promise<unknown>>()

/** Lets some pending changes be found; searches at the same time wait for the same. */
function refreshed(db: Queries): Promise<unknown> {
  const running = refreshing.get(db)
  if (running) return running
  const refresh = refreshTerms(db, 'terms').finally(() => refreshing.delete(db))
  refreshing.set(db, refresh)
  return refresh
}

/** Returns whether work is done in time. Where it fails, the page worker fails, too, and says so. */
async function isDone(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = new AbortController()
  const done = work.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([done, sleep(ms, false, { signal: late.signal })])
  } finally {
    late.abort()
  }
}
