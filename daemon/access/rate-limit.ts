import { LRUCache } from 'lru-cache'
import { sha256Bytes } from '../../core/sha256.ts'
import { oweTokens, takeToken } from '../../generator/accounts/rate-limits.ts'
import type { Database } from '../../generator/database/connection.ts'

/** The tolerance for rounding errors, since buckets refill by fractions of a token. */
const ROUNDING = 1e-6

export interface Allowance {
  /** 0, or the seconds until there is a token. */
  readonly wait: number
  /** The number of tokens taken recently. */
  readonly recent: number
}

/** Returns the outcome of taking a token at a level of a bucket with `perMinute` tokens. */
function takenFrom(level: number, perMinute: number): Allowance {
  const isEnough = level > 1 - ROUNDING
  const left = isEnough ? Math.max(0, level - 1) : level
  return {
    wait: isEnough ? 0 : Math.ceil(((1 - level) * 60) / perMinute - ROUNDING),
    recent: Math.ceil(perMinute - left - ROUNDING),
  }
}

const FREE: Allowance = { wait: 0, recent: 0 }

/** Token buckets by key, full with a minute's worth; 0 is no limit. The oldest keys are dropped. */
export class RateLimit {
  readonly #perMinute: number
  readonly #buckets: LRUCache<string, { level: number; at: number }>

  constructor(perMinute: number, remembered = 10_000) {
    this.#perMinute = perMinute
    // With `max`, the cache would reserve all of its memory now.
    this.#buckets = new LRUCache({ maxSize: remembered, sizeCalculation: () => 1 })
  }

  take(key: string, now: Date): Allowance {
    if (this.#perMinute === 0) return FREE
    const level = this.#level(key, now)
    const taken = takenFrom(level, this.#perMinute)
    const left = taken.wait === 0 ? Math.max(0, level - 1) : level
    this.#buckets.set(key, { level: left, at: now.getTime() })
    return taken
  }

  /** Takes tokens that may not be there yet; returns the seconds until there is one again. */
  owe(key: string, tokens: number, now: Date): number {
    if (this.#perMinute === 0) return 0
    const level = this.#level(key, now) - tokens
    this.#buckets.set(key, { level, at: now.getTime() })
    return takenFrom(level, this.#perMinute).wait
  }

  #level(key: string, now: Date): number {
    const before = this.#buckets.get(key)
    if (!before) return this.#perMinute
    // A clock that was set back neither adds nor removes tokens.
    const grown = (Math.max(0, now.getTime() - before.at) / 60_000) * this.#perMinute
    return Math.min(this.#perMinute, before.level + grown)
  }

  get size(): number {
    return this.#buckets.size
  }
}

/** Token buckets of all daemons: an attempt is one statement, which waits for no transaction. */
export class SharedRateLimit {
  readonly #database: Database
  readonly #name: string
  readonly #perMinute: number
  /** Refused keys, from when to when, in milliseconds. */
  readonly #refused = new LRUCache<string, { from: number; until: number; taken: Allowance }>({
    max: 10_000,
  })

  constructor(database: Database, name: string, perMinute: number) {
    this.#database = database
    this.#name = name
    this.#perMinute = perMinute
  }

  async take(key: string, now: Date): Promise<Allowance> {
    if (this.#perMinute === 0) return FREE
    const at = now.getTime()
    const bucket = bucketOf(this.#name, key)
    const refused = this.#refused.get(bucket)
    if (refused && refused.from <= at && at < refused.until)
      return { ...refused.taken, wait: Math.ceil((refused.until - at) / 1000) }
    const level = await takeToken(this.#database, bucket, this.#perMinute, now)
    const taken = takenFrom(level, this.#perMinute)
    const until = at + ((1 - level) * 60_000) / this.#perMinute
    if (taken.wait > 0) this.#refused.set(bucket, { from: at, until, taken })
    return taken
  }

  /** Takes tokens that may not be there yet; returns the seconds until there is one again. */
  async owe(key: string, tokens: number, now: Date): Promise<number> {
    if (this.#perMinute === 0) return 0
    const bucket = bucketOf(this.#name, key)
    this.#refused.delete(bucket)
    const level = await oweTokens(this.#database, bucket, this.#perMinute, { tokens, now })
    return takenFrom(level, this.#perMinute).wait
  }
}

/** Returns the key of a bucket, a hash: an address, or a password typed as a login, is not kept. */
function bucketOf(name: string, key: string): string {
  return sha256Bytes(`${name} ${key}`).toString('base64url').slice(0, 22)
}
