// Imports nothing: the browser's script bundles this file.

declare const nameBrand: unique symbol
declare const canonicalBrand: unique symbol

/** A crate name as published: an ASCII letter, then letters, digits, `-`, `_`; at most 64. */
export type Name = string & { readonly [nameBrand]: true }

/** A name in the form that is equal for names that must not coexist: lowercase, `-` as `_`. */
export type CanonicalName = string & { readonly [canonicalBrand]: true }

/** Whether `text` is a crate name by the rules of `parseName`. */
export function isName(text: string): text is Name {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text)
}

/** Whether `text` can be the name by which a crate calls a dependency: it may begin with `_`. */
export function isAlias(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)
}

/** Lowercase with `-` as `_`; equal for names that collide. */
export function canonicalName(name: string): CanonicalName {
  return name.toLowerCase().replaceAll('-', '_') as CanonicalName
}
