import { LRUCache } from 'lru-cache'
import { issue, Refusal, type Settings } from '../../generator/index.ts'
import type { LoginPriority } from '../accounts/password.ts'
import { addressGroup } from '../http/client-address.ts'

/** The tolerance for rounding errors, since buckets refill by fractions of a token. */
const ROUNDING = 1e-6

/**
 * Token buckets by key. A full bucket holds one minute's worth; 0 means no limit.
 * Beyond `remembered` keys, the least recently used one is dropped.
 */
export class RateLimit {
  readonly #perMinute: number
  readonly #buckets: LRUCache<string, { level: number; at: number }>

  constructor(perMinute: number, remembered = 10_000) {
    this.#perMinute = perMinute
    this.#buckets = new LRUCache({ max: remembered })
  }

  /** Takes one token and returns 0; if there is none, returns the seconds until there is one. */
  take(key: string, now: Date): number {
    if (this.#perMinute === 0) return 0
    const at = now.getTime()
    const before = this.#buckets.get(key)
    // A clock that was set back neither adds nor removes tokens.
    const grown = before ? (Math.max(0, at - before.at) / 60_000) * this.#perMinute : 0
    const level = before ? Math.min(this.#perMinute, before.level + grown) : this.#perMinute
    const isEnough = level > 1 - ROUNDING
    this.#buckets.set(key, { level: isEnough ? Math.max(0, level - 1) : level, at })
    return isEnough ? 0 : Math.ceil(((1 - level) * 60) / this.#perMinute - ROUNDING)
  }

  /** Returns how many tokens were taken recently. */
  recent(key: string): number {
    const bucket = this.#buckets.peek(key)
    return bucket ? Math.ceil(this.#perMinute - bucket.level - ROUNDING) : 0
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#buckets.size
  }
}

/** What is limited, worded to follow "too many" in a message. */
const COUNTED = {
  publish: 'publishes',
  change: 'changes',
  search: 'searches',
  source: 'comparisons and raw files',
  login: 'attempts to log in',
  password: 'attempts to set a password',
} as const

/** The kind of rate limit a route counts against. */
export type Counted = keyof typeof COUNTED

/** The daemon's rate limits. Index reads have none, because Cargo polls it after a publish. */
export class RateLimits {
  readonly #limits: Readonly<Record<Counted, RateLimit>>
  readonly #accounts: RateLimit

  constructor(limits: Settings['limits']) {
    this.#limits = {
      publish: new RateLimit(limits.publish_per_minute),
      change: new RateLimit(limits.changes_per_minute),
      search: new RateLimit(limits.searches_per_minute),
      source: new RateLimit(limits.searches_per_minute),
      login: new RateLimit(limits.logins_per_minute),
      password: new RateLimit(limits.logins_per_minute),
    }
    this.#accounts = new RateLimit(limits.account_logins_per_minute)
  }

  /** Counts a request by its user. */
  ofUser(counted: Counted, userId: number, now: Date): void {
    this.#take(counted, `user ${userId}`, now)
  }

  /** Counts a request by its client address and returns how many recently came from there. */
  ofAddress(counted: Counted, address: string, now: Date): number {
    return this.#take(counted, `address ${addressGroup(address)}`, now)
  }

  /**
   * Counts a login. A browser known to the account is counted alone, so no attacker can lock it
   * out. Any other (`device` is null) counts by its address and toward the account's shared limit
   * (OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
   */
  ofLogin(login: string, device: string | null, address: string, now: Date): LoginPriority {
    if (device !== null)
      return { isKnown: true, recent: this.#take('login', `device ${device}`, now) }
    const recent = this.ofAddress('login', address, now)
    this.#spend('login', this.#accounts.take(login.toLowerCase().slice(0, 40), now))
    return { isKnown: false, recent }
  }

  /** Counts an attempt to set a password by its session, or by address without a session. */
  ofPassword(session: { readonly id: number } | null, address: string, now: Date): LoginPriority {
    const key = session ? `session ${session.id}` : `address ${addressGroup(address)}`
    return { isKnown: session !== null, recent: this.#take('password', key, now) }
  }

  #take(counted: Counted, key: string, now: Date): number {
    this.#spend(counted, this.#limits[counted].take(key, now))
    return this.#limits[counted].recent(key)
  }

  #spend(counted: Counted, seconds: number): void {
    if (seconds === 0) return
    throw new Refusal([issue('rate_limited', { what: COUNTED[counted], seconds })], {
      retryAfter: seconds,
    })
  }
}
