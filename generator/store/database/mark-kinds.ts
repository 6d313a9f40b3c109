/** The marks of pages, which no client waits for, in the order in which they are rendered. */
export const PAGE_KINDS = [
  'search', // A crate that searches find by something else, or a file of a new search layout.
  'namesake', // A crate that came or went: the pages of crates that depend on its name elsewhere.
  'downloads', // The files with the downloads of a crate, or of the registry; subject 0.
  'page', // A crate's own pages, besides the pages of its versions.
  'release', // The pages of a release.
  'list', // The list pages that show a crate.
  'search-file', // A file that searches read.
  'site', // The pages and files of the registry itself; subject 0.
  'map', // A part of the site map.
  'label', // The page of a keyword or category.
  'user', // The page of a user with the crates they own.
  'views', // Statistics, lists of keywords, the list of crates in other orders; subject 0.
] as const

/** All marks, those that publishers and readers of the index wait for before the pages. */
export const MARK_KINDS = [
  'file', // The `.crate` of a release has to be shown.
  'index', // The index file of a crate has to be rendered.
  'whole', // A whole crate has to be rendered again, and its leftover files removed.
  'git', // The index file of a crate has to be committed to the git index.
  ...PAGE_KINDS,
] as const

export type MarkKind = (typeof MARK_KINDS)[number]
export type PageKind = (typeof PAGE_KINDS)[number]

/**
 * Kinds of pages that list many crates, so that most publishes change some. The daemon limits how
 * often it renders them.
 */
export const OVERVIEW_KINDS: readonly PageKind[] = ['label', 'user', 'views']

/** The subject of `site` and `views` marks. */
export const SITE = 0
