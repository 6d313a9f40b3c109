import { isObject, jsonIn } from '../plain-data.ts'

/** The claims of a token, as its JSON has them; nothing of it is to be believed unverified. */
export type Claims = Readonly<Record<string, unknown>>

/** Returns a text in lower case, as far as it is ASCII: no other letter becomes an ASCII letter. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/** Returns the keys that lead to a claim: those of a JSON pointer (RFC 6901), or its name alone. */
export function claimPath(name: string): string[] {
  if (!name.startsWith('/')) return [name]
  const keys = name.slice(1).split('/')
  return keys.map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the name of a claim also where a pointer of one key names it; other pointers stay. */
export function plainName(name: string): string {
  return name.replace(/^\/([^/]*)$/, '$1')
}

/** Returns the value at the end of a path; undefined where there is none but an inherited one. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((of, key) => {
    const isHolder = typeof of === 'object' && of !== null && Object.hasOwn(of, key)
    return isHolder ? (of as Claims)[key] : undefined
  }, value)
}

/** Returns a value, or the items of an array, as texts; what is no text, number or truth is none. */
export function textsIn(value: unknown): string[] {
  return [value].flat().filter(isScalar).map(String)
}

/** Returns the values of a claim: none or one, and those of an array where a pointer names it. */
export function claimValues(claims: Claims, name: string): string[] {
  const claimed = valueAt(claims, claimPath(name))
  return Array.isArray(claimed) && !name.startsWith('/') ? [] : textsIn(claimed)
}

/** Deeper than tokens of CI systems go; no rule names anything below. */
export const DEPTH_MAX = 6

/** Yields each single value, also in objects and arrays, with the pointer to it or its array. */
export function* eachClaim(
  value: unknown,
  path = '',
): Generator<readonly [pointer: string, value: string]> {
  for (const text of textsIn(value)) yield [path, text]
  if (typeof value !== 'object' || value === null || path.split('/').length > DEPTH_MAX) return
  for (const [key, inner] of Object.entries(value))
    yield* eachClaim(inner, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

/** Returns the header (0) or the claims (1) of a token, which nobody has verified; null for none. */
export function unverified(jwt: string, part: 0 | 1 = 1): Claims | null {
  const parts = jwt.trim().split('.')
  const read = jsonIn(Buffer.from(parts[part] ?? '', 'base64url').toString('utf8'))
  return parts.length === 3 && isObject(read) ? read : null
}
