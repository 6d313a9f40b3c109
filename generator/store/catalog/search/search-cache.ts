import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Variant } from '../../../../core/search/plan.ts'
import type { Key, ListedWord } from '../../../../core/search/vocabulary.ts'
import type { Database } from '../../database/connection.ts'
import type { Queries } from '../../database/statement.ts'
import { type CrateBytes, readCrateBytes } from './crate-bytes.ts'
import { readSets, readTerms, type Sets, sizeOf, type TermRow } from './crate-sets.ts'
import { refreshTerms, searchState } from './pending-terms.ts'
import { readWords } from './search-files.ts'

/** Bytes of the sets of crates that are kept: those of some 80 words among 200,000 crates. */
const MAX_BYTES = 32 * 1024 * 1024

/** Bytes of the terms that are kept, those that do not exist included. */
const MAX_TERM_BYTES = 8 * 1024 * 1024

/** Bytes of the row of a term, besides its text. */
const TERM_BYTES = 400

/** Words of lists that are kept: some megabytes. */
const MAX_LISTED = 50_000

/** The longest that a search waits for what others have changed, in milliseconds. */
const COMPLETE_MS = 500

/**
 * What searches have read of one version of a database (`SearchState`), whichever process has made
 * it. Most searches come between two publishes. All of it is read after the number of the version,
 * so it may be newer than that, and never older. A search that begins later reads the number again,
 * and gets another cache if it has grown.
 */
export class SearchCache {
  readonly #db: Queries
  readonly #version: number
  readonly #sets = new LRUCache<string, Sets>({
    maxSize: MAX_BYTES,
    // Strangers choose the texts in the keys. They also count where sets of no crates take nothing.
    sizeCalculation: (sets, key) => sizeOf(sets) + 2 * key.length,
  })
  readonly #terms = new LRUCache<string, { readonly row: TermRow | null }>({
    maxSize: MAX_TERM_BYTES,
    sizeCalculation: (_, term) => TERM_BYTES + 2 * term.length,
  })
  readonly #lists = new LRUCache<string, readonly ListedWord[]>({
    maxSize: MAX_LISTED,
    sizeCalculation: words => words.length + 1,
  })
  #bytes: CrateBytes | null = null

  private constructor(db: Queries, version: number) {
    this.#db = db
    this.#version = version
  }

  /** Returns the cache of a version; in a transaction, which may be undone, one for nobody else. */
  static #of(db: Queries, version: number): SearchCache {
    const known = caches.get(db)
    if (known && known.#version === version) return known
    const cache = new SearchCache(db, version)
    if ('transaction' in db) caches.set(db, cache)
    return cache
  }

  /**
   * Returns the cache of what a database holds after searches find crates by all changes; a search
   * asks for it before it reads. If that takes longer than half a second, or cannot be written,
   * searches make do with what there is.
   */
  static async complete(db: Queries): Promise<SearchCache> {
    const end = performance.now() + COMPLETE_MS
    let isRefused = false
    for (;;) {
      const { version, pending } = await searchState(db)
      const rest = end - performance.now()
      if (pending === 0 || isRefused || rest <= 0 || !('transaction' in db))
        return SearchCache.#of(db, version)
      isRefused = !(await isDone(refreshed(db), rest))
    }
  }

  /** Returns what the database knows of each crate. */
  async crateBytes(): Promise<CrateBytes> {
    this.#bytes ??= await readCrateBytes(this.#db)
    return this.#bytes
  }

  /** Returns those of some terms that exist, by their texts. */
  async terms(some: readonly string[]): Promise<ReadonlyMap<string, TermRow>> {
    const terms = new Map(some.map(term => [term, this.#terms.get(term)?.row]))
    const unread = [...terms.keys()].filter(term => terms.get(term) === undefined)
    for (const term of unread) terms.set(term, null)
    if (unread.length > 0)
      for (const row of await readTerms(this.#db, unread)) terms.set(row.term, row)
    for (const term of unread) this.#terms.set(term, { row: terms.get(term) ?? null })
    return new Map([...terms].flatMap(([term, row]) => (row ? [[term, row]] : [])))
  }

  /** Returns the words that are listed under a key. */
  listed(key: Key, hash: number): Promise<readonly ListedWord[]> {
    return known(this.#lists, `${key} ${hash}`, () => readWords(this.#db, key, hash))
  }

  /** Returns the crates that the variants of a word find. */
  async sets(variants: readonly Variant[]): Promise<Sets> {
    const { scores } = await this.crateBytes()
    return known(this.#sets, JSON.stringify(variants), async () => {
      const terms = await this.terms(variants.map(({ term }) => term))
      return readSets(this.#db, variants, terms, scores.length / 32)
    })
  }
}

/** Returns what is kept under a key, or reads it. */
async function known<V extends object>(
  kept: LRUCache<string, V>,
  key: string,
  read: () => Promise<V>,
): Promise<V> {
  const found = kept.get(key)
  if (found) return found
  const fresh = await read()
  kept.set(key, fresh)
  return fresh
}

const caches = new WeakMap<Queries, SearchCache>()
const refreshing = new WeakMap<Queries, Promise<unknown>>()

/** Lets some pending changes be found; searches at the same time wait for the same. */
function refreshed(db: Queries): Promise<unknown> {
  const running = refreshing.get(db)
  if (running) return running
  const refresh = refreshTerms(db as Database, 'terms').finally(() => refreshing.delete(db))
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
