/** The marks of pages, which nobody waits for, in the order in which they are rendered. */
export const PAGE_KINDS = [
  'page', // What the tree says of a crate besides its index file and versions.
  'release', // The page of a release.
  'list', // The list pages that name a crate.
  'entry', // A block of crates that the browser's search shows.
  'search', // The terms of a hash that the browser searches.
  'common', // The common terms of a hash, for a range of crates.
  'spread', // A bucket of terms of a search layout that is not in use yet.
  'site', // What the tree says of the registry itself; subject 0.
  'map', // A part of the site map.
  'source', // The pages of a release's files: the most work by far.
] as const

/** What is rendered before any page: publishers and readers of the index wait for it. */
export const MARK_KINDS = [
  'file', // The `.crate` of a release is to be shown.
  'index', // The index file of a crate is to be rendered.
  'whole', // A crate is to be rendered again as a whole, and what it no longer has is to be removed.
  'git', // The index file of a crate is to be committed to the git index.
  ...PAGE_KINDS,
] as const

export type MarkKind = (typeof MARK_KINDS)[number]
export type PageKind = (typeof PAGE_KINDS)[number]

/** The subject of a `site` mark. */
export const SITE = 0
