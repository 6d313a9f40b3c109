import { type CanonicalName, canonicalName, isName } from '../name.ts'

/** A crate name, or a prefix with `*`, in canonical form: lower case, `_` for `-`. */
export interface CratePattern {
  readonly pattern: string
  /** The name of a crate; null for a prefix. */
  readonly name: CanonicalName | null
}

/** Reads `demo` or `acme-*`; null for anything else. */
export function parsePattern(text: string): CratePattern | null {
  if (isName(text)) {
    const name = canonicalName(text)
    return { pattern: name, name }
  }
  const isPrefix = /^(?:[A-Za-z][A-Za-z0-9_-]{0,62})?\*$/.test(text)
  return isPrefix ? { pattern: text.toLowerCase().replaceAll('-', '_'), name: null } : null
}

/** Returns all patterns that a name fits, the narrowest first; 66 at most. */
export function patternsOf(name: CanonicalName): string[] {
  const prefixes = Array.from({ length: name.length + 1 }, (_, end) => `${name.slice(0, end)}*`)
  return [name, ...prefixes.reverse()]
}
