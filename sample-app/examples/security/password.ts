import { scryptAsync } from '@noble/hashes/scrypt.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { timingSafeEqual } from 'hono/utils/buffer'
import { decodeBase64 } from 'hono/utils/encode'

// One after the other: strangers choose how many log in at once.
let last = Promise.resolve(new Uint8Array())
const COSTS = { N: 16384, r: 8, p: 1, dkLen: 32 }
/** A hash for `verifyPassword`: a salt and a key derived with scrypt, both in base64. */
export const PASSWORD_HASH = /^[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/
/** Checked when there is no such user: an unknown name takes as long as a wrong password. */
export const DECOY = `${'A'.repeat(22)}==$${'A'.repeat(43)}=`

/** Hashes a password for storage, by default with a new salt. Takes about 0.1 s and 16 MiB. */
export async function hashPassword(password: string, salt = randomBytes(16)): Promise<string> {
  last = last.catch(() => null).then(() => scryptAsync(password, salt, COSTS))
  return [salt, await last].map(bytes => btoa(String.fromCharCode(...bytes))).join('$')
}

/** Checks a password against a stored hash, in constant time once the key is derived. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [salt = ''] = hash.split('$')
  const derived = await hashPassword(password, decodeBase64(salt))
  // HMAC, and scrypt with it, fills a key up with NULs: `secret\0` derives the same as `secret`.
  return (await timingSafeEqual(derived, hash)) && !password.endsWith('\0')
}
