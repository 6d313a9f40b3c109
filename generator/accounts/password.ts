import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { refuse } from '../../core/error/error.ts'

const BLOCK_SIZE = 8
const KEY_BYTES = 32
const NO_SALT = Buffer.alloc(16)

/** Hashes a password to `scrypt$COST$SALT$KEY` (RFC 7914), where N is 2 to the power of COST. */
export async function hashPassword(password: string, cost: number): Promise<string> {
  const salt = randomBytes(16)
  const key = await queue.run(TOP_PRIORITY, () => derive(password, salt, cost))
  return ['scrypt', cost, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/**
 * Whether a password is the stored one. The work is always `2 ** effort`, even without a stored
 * password, so the time does not reveal who has an account; `effort` is at least its cost.
 */
export function isPassword(
  password: string,
  stored: string | null,
  effort: number,
  priority: LoginPriority,
): Promise<boolean> {
  return queue.run(priority, () => compare(password, stored, effort))
}

async function compare(password: string, stored: string | null, effort: number): Promise<boolean> {
  const [, storedCost, salt, key] = stored?.split('$') ?? []
  if (!storedCost || !salt || !key) {
    await derive(password, NO_SALT, effort)
    return false
  }
  const derived = await derive(password, Buffer.from(salt, 'base64url'), Number(storedCost))
  // 2^c, then 2^c, 2^(c+1), … up to 2^(effort-1): together 2^effort.
  for (let cost = Number(storedCost); cost < effort; cost++) await derive(password, NO_SALT, cost)
  // HMAC (RFC 2104) pads its key with NULs, so scrypt returns the same key for a password with
  // NULs appended.
  return timingSafeEqual(derived, Buffer.from(key, 'base64url')) && !password.includes('\0')
}

/** Returns the cost of a stored password. */
export function costOf(stored: string): number {
  return Number(stored.split('$')[1])
}

function derive(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  const options = {
    N: 2 ** cost,
    r: BLOCK_SIZE,
    p: 1,
    maxmem: 2 ** cost * BLOCK_SIZE * 128 + 32 * 1024 ** 2,
  }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

/** The place of a login attempt in the hashing queue. */
export interface LoginPriority {
  /** Whether the caller is known to the account: by device cookie, session or one-time link. */
  readonly isKnown: boolean
  /** The number of recent attempts from the same source, including this one. */
  readonly recent: number
}

/** Callers without a limit: the operator, or a request that was checked before. */
export const TOP_PRIORITY: LoginPriority = { isKnown: true, recent: 0 }

interface Waiting {
  readonly priority: LoginPriority
  /** Called when it may start, or when too many wait. */
  readonly resolve: (isAdmitted: boolean) => void
}

/**
 * Limits concurrent and waiting work. Known callers go first, then callers with the fewest recent
 * attempts, then the oldest. When too many wait, the last in that order is refused.
 * So clients that guess passwords can delay other unknown clients, but no known caller.
 */
export class HashingQueue {
  readonly #atOnce: number
  readonly #mostWaiting: number
  readonly #waiting: Waiting[] = []
  #running = 0

  constructor({ atOnce, mostWaiting }: { readonly atOnce: number; readonly mostWaiting: number }) {
    this.#atOnce = atOnce
    this.#mostWaiting = mostWaiting
  }

  /** Runs the work in its turn; refuses it when too many with a better priority wait. */
  async run<Result>(priority: LoginPriority, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running++
    else if (!(await this.#waitForSlot(priority))) refuse('logins_busy')
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // Hand the slot over directly, so that no newcomer can take it in between.
      if (next) next.resolve(true)
      else this.#running--
    }
  }

  #waitForSlot(priority: LoginPriority): Promise<boolean> {
    return new Promise(resolve => {
      const before = this.#waiting.findIndex(waiting => isBefore(priority, waiting.priority))
      const place = before < 0 ? this.#waiting.length : before
      this.#waiting.splice(place, 0, { priority, resolve })
      if (this.#waiting.length > this.#mostWaiting) this.#waiting.pop()?.resolve(false)
    })
  }
}

function isBefore(a: LoginPriority, b: LoginPriority): boolean {
  return a.isKnown === b.isKnown ? a.recent < b.recent : a.isKnown
}

/** Each hash takes tens of megabytes and a libuv thread, which file reads need, too. */
const queue = new HashingQueue({ atOnce: 2, mostWaiting: 64 })
