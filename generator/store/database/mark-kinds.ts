/** The marks of pages, which nobody waits for, in the order in which they are rendered. */
export const PAGE_KINDS = [
  /** What the tree says of a crate besides its index file and versions. */
  'page',
  /** The page of a release. */
  'release',
  /** The list pages that name a crate. */
  'list',
  /** A block of crates that the browser's search shows. */
  'entry',
  /** The terms of a hash that the browser searches. */
  'search',
  /** The common terms of a hash, for a range of crates. */
  'common',
  /** A bucket of terms of a search layout that is not in use yet. */
  'spread',
  /** What the tree says of the registry itself; subject 0. */
  'site',
  /** A part of the site map. */
  'map',
  /** The pages of a release's files: the most work by far. */
  'source',
] as const

/** What is rendered before any page: publishers and readers of the index wait for it. */
export const MARK_KINDS = [
  /** The `.crate` of a release is to be shown. */
  'file',
  /** The index file of a crate is to be rendered. */
  'index',
  /** A crate is to be rendered again as a whole, and what it no longer has is to be removed. */
  'whole',
  /** The index file of a crate is to be committed to the git index. */
  'git',
  ...PAGE_KINDS,
] as const

export type MarkKind = (typeof MARK_KINDS)[number]
export type PageKind = (typeof PAGE_KINDS)[number]

/** The subject of a `site` mark. */
export const SITE = 0
