import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

const COST = { N: 16384, r: 8, p: 1 }
const [SALT_BYTES, KEY_BYTES] = [16, 32]
/** The most memory that checking one password may take: 256 MiB. */
const MEMORY_LIMIT = 256 * 1024 * 1024
const HASH =
  /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9+/]{22,86}={0,2})\$([A-Za-z0-9+/]{43}=)$/

/** Checked when there is no such user, so that an unknown name takes as long as a wrong password. */
export const DECOY = `scrypt$16384$8$1$${'A'.repeat(22)}==$${'A'.repeat(43)}=`

/** A password that cannot be stored; the message says why. */
export class PasswordError extends Error {}

/**
 * Hashes a password for storage: `scrypt$N$r$p$SALT$KEY`, salt and key in base64. Takes about
 * 50 ms and 16 MiB.
 * @throws PasswordError for one that ends with NUL
 */
export async function hashPassword(password: string): Promise<string> {
  if (password.endsWith('\0'))
    throw new PasswordError('a password cannot end with the character NUL')
  const salt = randomBytes(SALT_BYTES)
  const key = await derive(password, salt, COST)
  const text = [salt, key].map(bytes => bytes.toString('base64'))
  return ['scrypt', COST.N, COST.r, COST.p, ...text].join('$')
}

/** Whether a text is a hash that `verifyPassword` can check. */
export function isPasswordHash(text: string): boolean {
  return parseHash(text) !== undefined
}

/**
 * Checks a password against a stored hash, in constant time once the key is derived.
 * @throws for a text that is no hash
 */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const parsed = parseHash(hash)
  if (!parsed) throw new Error('not a scrypt password hash')
  const same = timingSafeEqual(await derive(password, parsed.salt, parsed.cost), parsed.key)
  // HMAC (RFC 2104), and scrypt with it, fills a short key up with NULs: `secret` and `secret\0`
  // derive the same.
  return same && !password.endsWith('\0')
}

/** Scrypt takes a power of two for N, and 128 N r bytes of memory. */
function parseHash(text: string) {
  const [, N, r, p, salt = '', key = ''] = HASH.exec(text) ?? []
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  const usable = cost.N > 1 && Number.isInteger(Math.log2(cost.N)) && cost.r > 0 && cost.p > 0
  if (!usable || 128 * cost.N * cost.r >= MEMORY_LIMIT) return undefined
  return { cost, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') }
}

function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, { ...cost, maxmem: 2 * MEMORY_LIMIT }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
