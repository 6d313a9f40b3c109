import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Mutex } from '../../core/async/mutex.ts'
import { sha256, sha256Bytes } from '../../core/sha256.ts'
import { timestamp } from '../../core/timestamp.ts'

/** Returns a new secret of 256 random bits for a cookie or a link. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the hash to store of a secret or token; with 190 or more random bits, no salt needed. */
export function hashSecret(secret: string): string {
  return sha256(secret)
}

/** Returns the anti-CSRF token of forms: an HMAC that only the holder of the cookie can send. */
export function formProof(secret: string): string {
  return createHmac('sha256', secret).update('plimsoll form').digest('base64url')
}

/** Compares two texts in a time that does not reveal where they differ. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256Bytes(a), sha256Bytes(b))
}

/** Lets `work` record `now` as the last use of a token or session, at most once a minute. */
export type RecordUse = (
  last: string | null,
  now: Date,
  work: (at: string) => Promise<unknown>,
) => Promise<void>

/** The precision of a last use, and the pause after a failed write, in milliseconds. */
const PAUSE = 60_000

/** Returns a recorder. It writes one use at a time and only reports failures: reads must go on. */
export function recordUses(onFailure: (error: unknown) => void): RecordUse {
  const mutex = new Mutex()
  let failedAt = Number.NEGATIVE_INFINITY
  return async (last, now, work) => {
    if (last !== null && Math.abs(now.getTime() - Date.parse(last)) <= PAUSE) return
    await mutex.run(async () => {
      if (Math.abs(now.getTime() - failedAt) < PAUSE) return
      try {
        await work(timestamp(now))
      } catch (error) {
        failedAt = now.getTime()
        onFailure(error)
      }
    })
  }
}
