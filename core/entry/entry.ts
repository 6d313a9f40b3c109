/** Where a dependency applies (specification A.3). */
export type DependencyKind = 'normal' | 'build' | 'dev'

/** Any value of JSON, for what others put into an entry and we only carry along. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json }

/** Keys that this format does not know, with their values. */
export type OtherKeys = Readonly<Record<string, Json>>

/** One dependency of an index entry; field names are those of the index (specification A.3, Cargo's index schema). */
export interface Dependency {
  /** The name it goes by in the crate: the rename, if there is one. */
  readonly name: string
  /** Requirement as Cargo prints it (`^1.0`); in an entry that others wrote, in their words. */
  readonly req: string
  readonly features: readonly string[]
  readonly optional: boolean
  readonly default_features: boolean
  readonly target: string | null
  readonly kind: DependencyKind
  /** Index URL of the registry it comes from; null for this one. */
  readonly registry: string | null
  /** The real name, when `name` is a rename. */
  readonly package: string | null
  /** Artifact dependencies (unstable `bindeps`): carried along, never made up. */
  readonly artifact?: readonly string[]
  readonly bindep_target?: string | null
  readonly lib?: boolean
  readonly public?: boolean
  /** Keys of other writers that are not known here. */
  readonly other?: OtherKeys
}

/** Feature name → what it enables. */
export type Features = Readonly<Record<string, readonly string[]>>

/** One line of an index file, with `features` whole (the split into `features2` is a matter of rendering). */
export interface Entry {
  readonly name: string
  readonly vers: string
  readonly deps: readonly Dependency[]
  readonly cksum: string
  readonly features: Features
  readonly yanked: boolean
  readonly links: string | null
  readonly rust_version: string | null
  /** `YYYY-MM-DDTHH:MM:SSZ`, exactly 20 characters; null when unknown. */
  readonly pubtime: string | null
  /** Schema version that another writer gave the line; without it, rendering gives the lowest one that fits. */
  readonly v?: number
  /** Keys of other writers that are not known here. */
  readonly other?: OtherKeys
}

/** Orders text by code points, as Rust orders strings and as every list in an index line is ordered. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  let i = 0
  while (i < a.length && i < b.length && a[i] === b[i]) i++
  // Halves of a surrogate pair rank by the character they stand for.
  if (i > 0 && isLowHalf(a, i) && isLowHalf(b, i)) i--
  return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1)
}

function isLowHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}
