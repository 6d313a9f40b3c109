import { decodeForm } from './percent.ts'

/** Every value of every name, in the order of the request. A Map, so `constructor` and `__proto__` are names like any other. */
export type Pairs = ReadonlyMap<string, readonly string[]>

/** Sorts pairs by name. */
export function groupPairs(pairs: Iterable<readonly [string, string]>): Pairs {
  const grouped = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    const values = grouped.get(name)
    if (values) values.push(value)
    else grouped.set(name, [value])
  }
  return grouped
}

/**
 * Reads a query string: `+` and `%20` are spaces, `;` separates nothing, `q[]` is a name of its own, a bare `q` has the
 * value `""`.
 * @param query without the leading `?`
 */
export function parseQuery(query: string): Pairs {
  return groupPairs(query.split('&').filter(Boolean).map(splitPair))
}

function splitPair(pair: string): readonly [string, string] {
  const equals = pair.indexOf('=')
  if (equals === -1) return [decodeForm(pair), '']
  return [decodeForm(pair.slice(0, equals)), decodeForm(pair.slice(equals + 1))]
}
