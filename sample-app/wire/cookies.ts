import { groupPairs, type Pairs } from './pairs.ts'

/**
 * Reads a `Cookie` header. Hono's `getCookie` undoes percent-encoding and drops values with a quote or a non-ASCII
 * character; here a value is what the client sent, less its surrounding quotes. A bare `name` without `=` is no cookie.
 */
export function parseCookies(header: string): Pairs {
  return groupPairs(
    header.split(';').flatMap((chunk): [string, string][] => {
      const equals = chunk.indexOf('=')
      if (equals === -1) return []
      return [[chunk.slice(0, equals).trim(), unquote(chunk.slice(equals + 1).trim())]]
    }),
  )
}

/** Undoes the quoting of RFC 2109 as cookie libraries write it: `"a\"b"` is `a"b`, `"\073"` is `;`. */
function unquote(value: string): string {
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value
  return value
    .slice(1, -1)
    .replace(/\\(?:([0-3][0-7][0-7])|(.))/gs, (_, octal: string | undefined, character: string | undefined) =>
      octal === undefined ? (character ?? '') : String.fromCharCode(Number.parseInt(octal, 8)),
    )
}
