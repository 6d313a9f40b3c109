import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { type Issue, issue, refuse } from '../../generator/index.ts'

/** NIST SP 800-63B §3.1.1: long rather than complicated; the maximum bounds the work. */
const SHORTEST = 10
const LONGEST = 200

const BLOCK_SIZE = 8
const KEY_BYTES = 32
const NO_SALT = Buffer.alloc(16)

/** What stands against a password. */
export function passwordIssues(password: string, login: string): Issue[] {
  const { length } = [...password]
  if (length < SHORTEST) return [issue('password_short', { min: SHORTEST })]
  if (length > LONGEST) return [issue('password_long', { max: LONGEST })]
  if (/\p{Cc}/u.test(password)) return [issue('password_control')]
  if (password.toLowerCase().includes(login.toLowerCase()) && length < login.length + SHORTEST) {
    return [issue('password_is_login')]
  }
  return []
}

/** What is stored of a password: `scrypt$COST$SALT$KEY` (RFC 7914), the cost as a power of two. */
export async function hashPassword(password: string, cost: number): Promise<string> {
  const salt = randomBytes(16)
  const key = await queue.run(TOP_PRIORITY, () => derive(password, salt, cost))
  return ['scrypt', cost, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/**
 * Whether a password is the stored one. The work is `2 ** effort` also where nothing is stored, so
 * that the time does not tell who has an account; `effort` is at least the stored cost.
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
  // HMAC (RFC 2104) fills its key up with NULs, so that scrypt takes a password with NULs behind it
  // for the same.
  return timingSafeEqual(derived, Buffer.from(key, 'base64url')) && !password.includes('\0')
}

/** The cost of a stored password. */
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

/** Where somebody stands who wants a password hashed. */
export interface LoginPriority {
  /** Whether the caller is known to the account: by device cookie, session or one-time link. */
  readonly isKnown: boolean
  /** How many attempts like this one came of late from where it comes, this one included. */
  readonly recent: number
}

/** For callers who need no limit: the operator, or a request that was checked before. */
export const TOP_PRIORITY: LoginPriority = { isKnown: true, recent: 0 }

interface Waiting {
  readonly priority: LoginPriority
  readonly begin: () => void
  readonly giveUp: () => void
}

/**
 * Limits concurrent work, and how much of it waits. Known callers go first, then those with the
 * fewest recent attempts, then the oldest. When too many wait, the last in that order is refused.
 * So strangers who guess can delay other strangers, but no known caller.
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

  /** Does the work in its turn; refuses it when too many with a better priority wait. */
  async run<Result>(priority: LoginPriority, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running++
    else if (!(await this.#turn(priority))) refuse('logins_busy')
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The place is handed on, so that nobody who comes in between takes it.
      if (next) next.begin()
      else this.#running--
    }
  }

  #turn(priority: LoginPriority): Promise<boolean> {
    return new Promise(resolve => {
      const before = this.#waiting.findIndex(one => isBefore(priority, one.priority))
      const entry = { priority, begin: () => resolve(true), giveUp: () => resolve(false) }
      this.#waiting.splice(before < 0 ? this.#waiting.length : before, 0, entry)
      if (this.#waiting.length > this.#mostWaiting) this.#waiting.pop()?.giveUp()
    })
  }
}

function isBefore(one: LoginPriority, other: LoginPriority): boolean {
  return one.isKnown === other.isKnown ? one.recent < other.recent : one.isKnown
}

/** Each hash takes tens of megabytes and a thread that file reading wants, too. */
const queue = new HashingQueue({ atOnce: 2, mostWaiting: 64 })
