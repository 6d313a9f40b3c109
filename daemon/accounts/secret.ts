import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A new secret of 256 random bits, good for cookies and links. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** What is stored of a secret or a token; their 190 or more random bits need no salt. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** The token of forms: an HMAC of the cookie, which shows that they came from its holder. */
export function formProof(secret: string): string {
  return createHmac('sha256', secret).update('plimsoll form').digest('base64url')
}

/** Whether two texts are the same, in a time that tells nothing about where they differ. */
export function isSameText(one: string, other: string): boolean {
  const [a, b] = [one, other].map(text => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
