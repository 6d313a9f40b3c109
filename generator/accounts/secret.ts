import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256, sha256Bytes } from '../../core/sha256.ts'

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
