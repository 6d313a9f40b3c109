import { LRUCache } from 'lru-cache'
import { Flights } from '../../core/async/flights.ts'
import { lowerPrefix, type Name } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import {
  type Alarm,
  ANY_VERSION,
  isAhead,
  seeFile,
  type UpstreamCrate,
} from '../../core/upstream/crate.ts'
import { paced } from '../database/pace.ts'
import type { Place } from '../places/place.ts'
import { isTemporary, WebFailure } from '../web/failure.ts'
import type { Web, WebAnswer } from '../web/web.ts'
import type { UpstreamCounts } from './counts.ts'
import { type IndexFile, readIndexFile } from './index-file.ts'
import { hasKept, type KnownCrate, readKnown, sizeOf, writeKnown } from './known-crates.ts'
import { FREE, failureRefusal, IN_VAIN, requireToken, type Spend } from './refusal.ts'

export interface CrateIndexOptions {
  /** The address of the sparse index, without `sparse+`, with a final slash. */
  readonly url: string
  readonly place: Place
  readonly web: Pick<Web, 'ask'>
  readonly counts: UpstreamCounts
  /** Whether other daemons write to the place: then it is read before each answer. */
  readonly isShared: boolean
  readonly now: () => Date
  /** Called with each alarm before the file that caused it is kept. */
  readonly onAlarm: (alarm: Alarm) => Promise<void>
  readonly requestMs?: number
}

export interface FoundCrate {
  readonly crate: UpstreamCrate | null
  /** When this was so, in milliseconds since 1970, if the upstream has not confirmed it now. */
  readonly staleSince: number | null
}

interface Failed {
  /** Null where there is no such crate. */
  readonly failure: WebFailure | null
  /** When it is forgotten, in milliseconds since 1970. */
  readonly until: number
}

/** The largest index file, in bytes; the largest on crates.io has about 3 MB. */
export const INDEX_FILE_MAX = 8 * 1024 * 1024

/** Characters of all that is known of a crate: an upstream may send other versions each time. */
const KNOWN_MAX = 2 * INDEX_FILE_MAX

/** The most alarms of one file: when thousands of versions vanish, more of them say no more. */
const ALARMS_MAX = 100

/** Milliseconds after which a request for an index file ends, and a failure is forgotten. */
const REQUEST_MS = 10_000
const FAILURE_MS = 10_000

/** Milliseconds after which it is forgotten that there is no such crate: one may be published. */
const MISSING_MS = 3000

/** Characters of index files in memory, and the most names of failures and missing crates. */
const HELD_MAX = 64 * 1024 * 1024
const NAMES_MAX = 10_000

/**
 * The index files of an upstream: kept in a place, and asked for again when they are older than the
 * caller wants. Any number of callers cost one request. An older file never replaces a newer one.
 */
export class CrateIndex {
  readonly #options: CrateIndexOptions
  readonly #held = new LRUCache<Name, KnownCrate>({
    maxSize: HELD_MAX,
    sizeCalculation: ({ crate }) => sizeOf(crate) + 1000,
  })
  readonly #flights = new Flights<FoundCrate>()
  readonly #failed = new LRUCache<Name, Failed>({ max: NAMES_MAX })
  #away: Failed | null = null
  /** Whether lines are kept, so that the upstream has answered before this process began. */
  #hasKept = false

  constructor(options: CrateIndexOptions) {
    this.#options = options
  }

  /** The crates in memory. */
  get held(): UpstreamCrate[] {
    return Array.from(this.#held.values(), ({ crate }) => crate)
  }

  /**
   * Returns what is kept of a crate, without asking the upstream; null if nothing is. `isAnew`:
   * what other processes have written since this one read it counts, too.
   */
  async kept(name: Name, isAnew = this.#options.isShared): Promise<UpstreamCrate | null> {
    return (await this.#read(name, isAnew))?.crate ?? null
  }

  /**
   * Returns a crate, which the upstream has confirmed within the last `fresh` milliseconds, or as
   * it was last if the upstream is away, or the caller may `spend` no more requests on it. Refuses
   * a crate of which nothing is known then.
   */
  async find(name: Name, fresh: number, spend: Spend = FREE): Promise<FoundCrate> {
    const key = name.toLowerCase() as Name
    const result = await this.#flights.join(key, () => this.#find(key, fresh, spend))
    if (!this.#options.isShared) return result
    // Another daemon may have answered with a newer file while this one asked.
    return { ...result, crate: (await this.kept(key)) ?? result.crate }
  }

  address(name: Name): string {
    return `${this.#options.url}${lowerPrefix(name)}/${name.toLowerCase()}`
  }

  /** Returns whether a crate, or that there is none, is known well enough not to be asked for. */
  isFresh(name: Name, fresh: number): boolean {
    const key = name.toLowerCase() as Name
    return this.#isCurrent(this.#held.get(key), fresh) || this.#lately(key)?.failure === null
  }

  /** Changes the kept file of a crate; does nothing for an unknown crate. */
  async change(name: Name, change: (crate: UpstreamCrate) => UpstreamCrate): Promise<void> {
    const key = name.toLowerCase() as Name
    await this.#flights.landed(key)
    const before = await this.#read(key, true)
    if (!before) return
    const after = await writeKnown(this.#options.place, key, change(before.crate), before)
    if (!after) return this.change(name, change)
    this.#held.set(key, after)
  }

  async #find(name: Name, fresh: number, spend: Spend): Promise<FoundCrate> {
    const { counts } = this.#options
    let held = await this.#read(name, false)
    // Other processes may have accepted a change since this one read the file.
    if (!this.#isCurrent(held, fresh)) held = await this.#read(name, true)
    if (held && this.#isCurrent(held, fresh)) {
      counts.hits++
      return { crate: held.crate, staleSince: null }
    }
    const lately = this.#lately(name)
    if (lately && (lately.failure || !held)) return this.#without(name, held, lately.failure)
    if (!held) requireToken(spend)
    else if (spend(1) > 0) return this.#stale(held)
    counts.misses++
    try {
      const crate = await this.#ask(name, held)
      if (!crate) spend(IN_VAIN)
      return { crate, staleSince: null }
    } catch (error) {
      if (!(error instanceof WebFailure)) throw error
      if (error.status === 403) this.#hasKept ||= await hasKept(this.#options.place)
      const failed = { failure: error, until: this.#now() + FAILURE_MS }
      // One request that fails between others that are answered is no reason to stop all of them.
      if (isTemporary(error) && counts.failure !== null) this.#away = failed
      // Another process may have been faster with the first file.
      const kept = held ?? (await this.#read(name, true))
      if (!kept) spend(IN_VAIN)
      if (this.#isNone(kept, error)) counts.errors++
      else counts.failed(error)
      this.#failed.set(name, failed)
      return this.#without(name, kept, error)
    }
  }

  #isCurrent(held: KnownCrate | null | undefined, fresh: number): boolean {
    return held != null && Math.abs(this.#now() - held.checked) <= fresh
  }

  /** Returns what a crate, or the upstream, was lately asked for in vain. */
  #lately(name: Name): Failed | null | undefined {
    const left = (failed?: Failed | null) => (failed?.until ?? 0) - this.#now()
    const failures = [this.#failed.get(name), this.#away]
    return failures.find(failed => left(failed) > 0 && left(failed) <= FAILURE_MS)
  }

  /** Returns whether a failure means that there is no such crate: storage says 403 for 404. */
  #isNone(held: KnownCrate | null, failure: WebFailure | null): boolean {
    const hasAnswered = this.#options.counts.answered !== null || this.#hasKept
    return !held && (failure === null || (failure.status === 403 && hasAnswered))
  }

  #without(name: Name, held: KnownCrate | null, failure: WebFailure | null): FoundCrate {
    if (this.#isNone(held, failure)) return { crate: null, staleSince: null }
    if (!held) throw failureRefusal(name, failure, FAILURE_MS / 1000)
    return this.#stale(held)
  }

  #stale(held: KnownCrate): FoundCrate {
    this.#options.counts.stale++
    return { crate: held.crate, staleSince: held.checked }
  }

  async #read(name: Name, isAnew: boolean): Promise<KnownCrate | null> {
    const key = name.toLowerCase() as Name
    const held = this.#held.get(key) ?? null
    if (held && !isAnew) return held
    const stored = await readKnown(this.#options.place, key, held)
    if (stored && stored !== held) this.#held.set(key, stored)
    return stored
  }

  async #ask(name: Name, held: KnownCrate | null): Promise<UpstreamCrate | null> {
    const { web, counts, requestMs = REQUEST_MS } = this.#options
    const now = this.#options.now()
    // Only a whole file mends what a wrong clock saw.
    const sightings = [...(held?.crate.sightings.values() ?? [])]
    const isWrong = sightings.some(each => isAhead(each.first, now) || isAhead(each.yanked, now))
    const answer = await web.ask(this.address(name), {
      etag: isWrong ? null : (held?.crate.etag ?? null),
      max: INDEX_FILE_MAX,
      timeoutMs: requestMs,
    })
    if (answer.status === 304 && !held) this.#wrong(name, '304 for a new file')
    const isFile = answer.status !== 304 && (answer.status !== 404 || held !== null)
    const file = isFile ? await this.#readFile(answer, name, held) : null
    // Only now: an answer that cannot be used is a failure.
    counts.succeeded(this.#now())
    if (file) return this.#see(name, file, held)
    if (held) return this.#hold(name, held)
    this.#failed.set(name, { failure: null, until: this.#now() + MISSING_MS })
    return null
  }

  async #see(
    name: Name,
    file: IndexFile,
    before: KnownCrate | null,
  ): Promise<UpstreamCrate | null> {
    const { place, onAlarm, now } = this.#options
    const { crate, alarms } = await paced(() => seeFile(before?.crate ?? null, file, now()))
    if (sizeOf(crate) > KNOWN_MAX) this.#wrong(name, 'too much, with what it has sent before')
    for (const alarm of alarms.slice(0, ALARMS_MAX)) await onAlarm(alarm)
    for (const kind of file.leftOut)
      await onAlarm({ kind, name, version: ANY_VERSION, at: timestamp(now()) })
    const written = await writeKnown(place, name, crate, before)
    if (written) return this.#hold(name, written)
    // Another process was faster; its file may be newer than this one.
    return this.#ask(name, await this.#read(name, true))
  }

  #hold(name: Name, stored: KnownCrate): UpstreamCrate {
    this.#failed.delete(name)
    this.#held.set(name, { ...stored, checked: this.#now() })
    return stored.crate
  }

  async #readFile(answer: WebAnswer, name: Name, held: KnownCrate | null): Promise<IndexFile> {
    // Neither is older where nobody says when it was changed, or a wrong clock let a date pass.
    const before = Date.parse(held?.crate.lastModified ?? '')
    if (before <= this.#now() && Date.parse(answer.lastModified ?? '') < before)
      this.#wrong(name, 'an older file than before')
    const file = await readIndexFile(answer, name, held?.crate ?? null)
    if (typeof file === 'string') this.#wrong(name, file)
    // No later file would be newer than one from the future.
    const isPast = Date.parse(answer.lastModified ?? '') <= this.#now()
    return isPast ? file : { ...file, lastModified: null }
  }

  #wrong(name: Name, what: string): never {
    throw new WebFailure(this.#options.url, `for ${name} it sends ${what}`)
  }

  #now(): number {
    return this.#options.now().getTime()
  }
}
