// Imports nothing: the browser's script bundles this file.

declare const nameBrand: unique symbol
declare const canonicalBrand: unique symbol

/** A crate name as published: an ASCII letter, then letters, digits, `-`, `_`; at most 64. */
export type Name = string & { readonly [nameBrand]: true }

/** A name in lowercase with `-` as `_`; two crates cannot have the same canonical name. */
export type CanonicalName = string & { readonly [canonicalBrand]: true }

/** Whether `parseName` accepts `text`. */
export function isName(text: string): text is Name {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text)
}

/** Whether a dependency may be renamed to `text`; unlike a crate name, it may begin with `_`. */
export function isAlias(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)
}

/** Returns the canonical form of a name. */
export function canonicalName(name: string): CanonicalName {
  return name.toLowerCase().replaceAll('-', '_') as CanonicalName
}
