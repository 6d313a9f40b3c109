import type { CanonicalName } from '../../core/name.ts'

/**
 * The tables for lists and searches. They are derived from crates and releases: those of lists in
 * the transaction of each change, those of searches soon after it.
 */
export interface DerivedTables {
  /** The listing of a crate; a crate without releases has no row. */
  listings: {
    crate_id: number
    canonical: CanonicalName
    /** The release that represents the crate; see `newestVersion`. */
    newest_id: number
    /** The last published release that is not yanked; `newest_id` when all are yanked. */
    latest_id: number
    /** The highest release that is neither yanked nor a pre-release. */
    stable_id: number | null
    /** The release of `highestVersion`; null when that is `newest_id`. */
    max_id: number | null
    versions: number
    /** 1 when every version is yanked. */
    yanked: number
    updated_at: string
    /** Size of the newest `.crate`. */
    bytes: number
    /** The number of rows of `dependents`, kept by triggers. */
    dependents: number
  }
  /** Keywords and categories that crates have, and how many crates; `id` is a hash. */
  labels: { id: number; kind: 'keyword' | 'category'; slug: string; crates: number }
  /** The crates of a label. `weight` grows with the logarithm of the number of dependents. */
  crate_labels: { label_id: number; weight: number; crate_id: number }
  /** Crates whose newest version depends on a crate name of this registry. */
  dependents: {
    dependency: CanonicalName
    dependent: CanonicalName
    crate_id: number
    /** 1 when it takes the crate of this name from another registry. */
    elsewhere: number
  }
  /**
   * How all versions of a crate require another, as its files have it (`core/impact/`); '' for no
   * longer. `place`: a hash of both names, so that a range has the rows of each file.
   */
  requirements: { place: number; dependency: CanonicalName; crate_id: number; text: string }
  /** The number of crates whose canonical name begins with a prefix; never 0. */
  prefixes: { prefix: string; crates: number }
  /** The terms by which searches find a crate, with their fits, as JSON (`generator/search/`). */
  search_crates: { crate_id: number; terms: string }
  /**
   * The terms of all crates: where they are in the search files, how many crates have them as a
   * whole word, and their postings. There is only the shard 0. `#ranks` has what orders all crates.
   */
  search_terms: {
    shard: number
    term: string
    place: number
    shape: number
    words: number
    postings: string
  }
}
