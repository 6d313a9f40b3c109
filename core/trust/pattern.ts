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
