import { refuse } from './error/error.ts'

declare const nameBrand: unique symbol
declare const canonicalBrand: unique symbol

/** A crate name as published: an ASCII letter, then letters, digits, `-`, `_`; at most 64. */
export type Name = string & { readonly [nameBrand]: true }

/** A name in the form that is equal for names that must not coexist: lowercase, `-` as `_`. */
export type CanonicalName = string & { readonly [canonicalBrand]: true }

/** Longest crate name (specification section 8). */
export const NAME_MAX = 64

/**
 * The only way to a `Name`. Throws a `Refusal` that says which rule `text` breaks (specification A.2;
 * the rules of crates.io, which also make a name safe in every path and URL).
 */
export function parseName(text: string): Name {
  if (text === '') refuse('name_empty')
  const wrong = /[^A-Za-z0-9_-]/u.exec(text)
  if (wrong) refuse('name_character', { name: text, character: wrong[0] })
  if (!/^[A-Za-z]/.test(text)) refuse('name_start', { name: text })
  if (text.length > NAME_MAX) refuse('name_too_long', { name: text, max: NAME_MAX })
  return text as Name
}

/** Whether `text` is a crate name by the rules of `parseName`. */
export function isName(text: string): text is Name {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text)
}

/** Whether `text` can be the name by which a crate calls a dependency: it may begin with `_`. */
export function isAlias(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)
}

/** Lowercase with `-` as `_`; equal for names that collide. */
export function canonicalName(name: Name): CanonicalName {
  return name.toLowerCase().replaceAll('-', '_') as CanonicalName
}

/** The `{prefix}` marker: the index tier of the name, case kept (specification A.2). */
export function prefix(name: Name): string {
  if (name.length <= 2) return String(name.length)
  if (name.length === 3) return `3/${name.slice(0, 1)}`
  return `${name.slice(0, 2)}/${name.slice(2, 4)}`
}

/** The `{lowerprefix}` marker: the tier in which Cargo looks the name up. */
export function lowerPrefix(name: Name): string {
  return prefix(name.toLowerCase() as Name)
}
