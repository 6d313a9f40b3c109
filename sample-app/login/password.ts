import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const [SALT_BYTES, KEY_BYTES] = [16, 32]
/** What `verifyPassword` can check. */
export const PASSWORD_HASH = /^[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/
/** With Node's costs (N 16384, r 8, p 1): about 50 ms and 16 MiB. */
const derive = promisify<string, Buffer, number, Buffer>(scrypt)

/** Checked when there is no such user: an unknown name takes as long as a wrong password. */
export const DECOY = `${'A'.repeat(22)}==$${'A'.repeat(43)}=`

/** Hashes a password for storage: a random salt and a key derived with scrypt, both in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const key = await derive(password, salt, KEY_BYTES)
  return `${salt.toString('base64')}$${key.toString('base64')}`
}

/** Checks a password against a stored hash, in constant time once the key is derived. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [salt = '', key = ''] = hash.split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64'), KEY_BYTES)
  // HMAC, and scrypt with it, fills a key up with NULs: `secret\0` derives the same as `secret`.
  return timingSafeEqual(derived, Buffer.from(key, 'base64')) && !password.endsWith('\0')
}
