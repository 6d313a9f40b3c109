import { LRUCache } from 'lru-cache'
import { issue, Refusal } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { sha256Bytes } from '../../core/sha256.ts'
import type { LoginPriority } from '../../generator/accounts/password.ts'
import { oweTokens, takeToken } from '../../generator/accounts/rate-limits.ts'
import type { Database } from '../../generator/database/connection.ts'
import { addressGroup } from '../http/client-address.ts'

/** The limited actions, worded to follow "too many" in a message. */
const COUNTED = {
  publish: 'publishes',
  change: 'changes',
  search: 'searches',
  read: 'questions about crates',
  login: 'attempts to log in',
  issuer: 'attempts to log in',
  password: 'attempts to set a password',
  exchange: 'exchanges of tokens',
} as const

export type Action = keyof typeof COUNTED

/** A second of processor time counts as this many publishes. */
const PUBLISHES_PER_SECOND = 10

/** The processor time of a refused publish counts this many times more. */
const REFUSED_FACTOR = 4

/** What a browser asks for to log in at an issuer: the way there, the way back, and a reload. */
const REQUESTS_PER_LOGIN = 3

type Limit = RateLimit | SharedRateLimit

/**
 * The rate limits. Index reads have none, because Cargo polls it after a publish. Daemons on one
 * server count changes together, but each counts its own reads, which are limited for their cost to
 * it.
 */
export class RateLimits {
  readonly #limits: Readonly<Record<Action, Limit>>
  readonly #accounts: Limit

  /** `shared`: the records of daemons that count together. */
  constructor(limits: Settings['limits'], shared: Database | null) {
    const limit = (name: string, perMinute: number) =>
      shared ? new SharedRateLimit(shared, name, perMinute) : new RateLimit(perMinute)
    this.#limits = {
      search: new RateLimit(limits.searches_per_minute),
      read: new RateLimit(limits.searches_per_minute),
      publish: limit('publish', limits.publish_per_minute),
      change: limit('change', limits.changes_per_minute),
      login: limit('login', limits.logins_per_minute),
      issuer: limit('issuer', limits.logins_per_minute * REQUESTS_PER_LOGIN),
      password: limit('password', limits.logins_per_minute),
      exchange: limit('exchange', limits.exchanges_per_minute),
    }
    this.#accounts = limit('account', limits.account_logins_per_minute)
  }

  /** Counts an action by who makes it; returns the number of recent ones, or refuses it. */
  async count(counted: Action, who: string, now: Date): Promise<number> {
    return spend(counted, await this.#limits[counted].take(who, now))
  }

  /**
   * Counts the processor time that reading a publish took, toward the limit of publishes; a refused
   * one counts more. Returns the seconds until the user may publish again.
   */
  async ofReading(who: string, ms: number, isRefused: boolean, now: Date): Promise<number> {
    const cost = (ms / 1000) * PUBLISHES_PER_SECOND * (isRefused ? REFUSED_FACTOR : 1)
    // Reading most takes less than the publish has been counted as.
    return cost < 1 ? 0 : this.#limits.publish.owe(who, cost, now)
  }

  /**
   * Counts a login. A browser known to the account is counted alone, so no attacker can lock it
   * out. Any other (`device` is null) counts by its address and toward the account's shared limit
   * (OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
   */
  async ofLogin(
    login: string,
    device: string | null,
    address: string,
    now: Date,
  ): Promise<LoginPriority> {
    const who = device === null ? byAddress(address) : `device ${device}`
    const recent = await this.count('login', who, now)
    if (device !== null) return { isKnown: true, recent }
    spend('login', await this.#accounts.take(login.toLowerCase().slice(0, 40), now))
    return { isKnown: false, recent }
  }
}

/** Returns what counts everybody behind an address together. */
export function byAddress(address: string): string {
  return `address ${addressGroup(address)}`
}

/** Returns how many tokens were taken recently; refuses when there was none. */
function spend(counted: Action, { wait, recent }: Allowance): number {
  if (wait === 0) return recent
  throw new Refusal([issue('rate_limited', { what: COUNTED[counted], seconds: wait })], {
    retryAfter: wait,
  })
}

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
