/** The claims of a token, as its JSON has them; nothing of it is to be believed unverified. */
export type Claims = Readonly<Record<string, unknown>>

/** Returns a text in lower case, as far as it is ASCII: no other letter becomes an ASCII letter. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/** Returns the member of an object or array; undefined for one that it only inherits. */
function member(value: unknown, key: string): unknown {
  const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
  return isHolder ? (value as Claims)[key] : undefined
}

/**
 * Returns the values of a claim as texts: none or one, and those of an array where it is named by
 * JSON pointer (RFC 6901).
 */
export function claimValues(claims: Claims, name: string): string[] {
  const isPointer = name.startsWith('/')
  const path = isPointer ? name.slice(1).split('/').map(unescaped) : [name]
  const found = path.reduce<unknown>(member, claims)
  const values = isPointer && Array.isArray(found) ? found : [found]
  return values.filter(isScalar).map(String)
}

const unescaped = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** Yields each claim with a single value, also in objects and arrays, by name and by pointer. */
export function* eachClaim(claims: Claims): Generator<readonly [name: string, value: string]> {
  for (const [name, value] of Object.entries(claims))
    if (isScalar(value)) yield [name, String(value)]
  yield* below('', claims)
}

/** Deeper than tokens of CI systems go. */
const DEPTH_MAX = 6

function* below(path: string, value: unknown): Generator<readonly [string, string]> {
  if (isScalar(value)) yield [path, String(value)]
  if (typeof value !== 'object' || value === null || path.split('/').length > DEPTH_MAX) return
  for (const [key, inner] of Object.entries(value)) {
    if (Array.isArray(value) && isScalar(inner)) yield [path, String(inner)]
    yield* below(`${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, inner)
  }
}

/** Returns the claims of a token, which nobody has verified; null if it is none. */
export function unverifiedClaims(jwt: string): Claims | null {
  const [, payload = '', ...rest] = jwt.trim().split('.')
  if (rest.length !== 1) return null
  const parsed = parsedJson(new TextDecoder().decode(bytesOf(payload)))
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? (parsed as Claims)
    : null
}

function bytesOf(base64url: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64url, 'base64url'))
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
