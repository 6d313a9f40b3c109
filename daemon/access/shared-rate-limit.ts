import { LRUCache } from 'lru-cache'
import { sha256Bytes } from '../../core/sha256.ts'
import type { Database } from '../../generator/database/connection.ts'
import { oweTokens, takeToken } from '../../generator/records/accounts/rate-limits.ts'
import { type Allowance, FREE, takenFrom } from './rate-limit.ts'

/**
 * Token buckets that all daemons of a PostgreSQL database have in common. A full bucket holds one
 * minute's worth; 0 means no limit. An attempt is one statement, which waits for no transaction and
 * for no disk. After a refusal the daemon asks again only when there may be a token.
 */
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

/**
 * Returns the stored key of a bucket. It is a hash: the database keeps no addresses, nor texts
 * typed as a login, which may be passwords.
 */
function bucketOf(name: string, key: string): string {
  return sha256Bytes(`${name} ${key}`).toString('base64url').slice(0, 22)
}
