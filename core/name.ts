import { refuse } from './error/error.ts'
import { type CanonicalName, canonicalName, isName, type Name } from './name-rules.ts'

export { type CanonicalName, canonicalName, isAlias, isName, type Name } from './name-rules.ts'

export const NAME_MAX = 64

/** Parses a name by the rules of crates.io (specification A.2); it is safe in paths and URLs. */
export function parseName(text: string): Name {
  if (text === '') refuse('name_empty')
  const wrong = /[^A-Za-z0-9_-]/u.exec(text)
  if (wrong) refuse('name_character', { name: text, character: wrong[0] })
  if (!/^[A-Za-z]/.test(text)) refuse('name_start', { name: text })
  if (text.length > NAME_MAX) refuse('name_too_long', { name: text, max: NAME_MAX })
  return text as Name
}

/** Returns a crate name, or a prefix followed by `*`, in canonical form; null for anything else. */
export function canonicalPattern(text: string): string | null {
  const isPattern = isName(text) || /^(?:[A-Za-z][A-Za-z0-9_-]{0,63})?\*$/.test(text)
  return isPattern ? text.toLowerCase().replaceAll('-', '_') : null
}

/** Returns all patterns that a name fits, the narrowest first; 66 at most. */
export function patternsOf(name: CanonicalName): string[] {
  const prefixes = Array.from({ length: name.length + 1 }, (_, end) => `${name.slice(0, end)}*`)
  return [name, ...prefixes.reverse()]
}

/** Sorts items by their canonical crate names. */
export function sortByName<T extends { readonly name: string }>(items: Iterable<T>): T[] {
  const keyed = Array.from(items, item => ({ key: canonicalName(item.name), item }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ item }) => item)
}

/** Returns the `{prefix}` marker: the index folder, in the case of the name (specification A.2). */
export function prefix(name: Name): string {
  if (name.length <= 2) return String(name.length)
  if (name.length === 3) return `3/${name.slice(0, 1)}`
  return `${name.slice(0, 2)}/${name.slice(2, 4)}`
}

/** Returns the `{lowerprefix}` marker: the index folder in which Cargo looks for the name. */
export function lowerPrefix(name: Name): string {
  return prefix(name.toLowerCase() as Name)
}

/** `abc` → ``, `a`, `ab`, `abc`. */
export function beginnings(canonical: string): string[] {
  return Array.from({ length: canonical.length + 1 }, (_, end) => canonical.slice(0, end))
}
