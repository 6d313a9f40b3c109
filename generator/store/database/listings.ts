import type { Generated } from 'kysely'

/**
 * Derived from crates and releases in the transaction of each change: what lists and searches read.
 */
export interface ListingTables {
  /** One row per crate: what a list shows of it. */
  listings: {
    crate_id: number
    canonical: string
    /** The release that stands for the crate: see `newestVersion`. */
    newest_id: number
    /** The unyanked release that was published last; the newest when all are yanked. */
    latest_id: number
    /** The highest unyanked release that is no pre-release. */
    stable_id: number | null
    versions: number
    /** 1 when every version is yanked. */
    yanked: number
    updated_at: string
  }
  /** What can be searched for, and how many crates it finds; the empty word finds all. */
  terms: {
    id: Generated<number>
    term: string
    crates: number
    hash: number
    /** 1 when its crates are kept as bits, too. */
    common: Generated<number>
  }
  /** Which word finds which crate; the lower the rank, the earlier it is shown. */
  postings: { term_id: number; rank: number; crate_id: number }
  /** How many crates' canonical names begin with a text; one that none does has no row. */
  prefixes: { prefix: string; crates: number }
  /** Which crate's newest version depends on which name of this registry, both canonical. */
  dependents: { dependency: string; dependent: string; crate_id: number }
}

/** Lists, search and dependents; the search needs both orders of `postings`. */
export const LISTINGS = [
  `CREATE TABLE listings (
    crate_id INTEGER PRIMARY KEY REFERENCES crates(id), canonical TEXT NOT NULL,
    newest_id INTEGER NOT NULL REFERENCES releases(id),
    latest_id INTEGER NOT NULL REFERENCES releases(id),
    stable_id INTEGER REFERENCES releases(id), versions INTEGER NOT NULL,
    yanked INTEGER NOT NULL, updated_at TEXT NOT NULL)`,
  `CREATE INDEX listings_order ON listings (yanked, canonical)`,
  `CREATE INDEX listings_updated ON listings (updated_at) WHERE versions > 1`,
  `CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, crates INTEGER NOT NULL)`,
  `CREATE TABLE postings (
    term_id INTEGER NOT NULL, rank INTEGER NOT NULL, crate_id INTEGER NOT NULL,
    PRIMARY KEY (term_id, rank, crate_id)) WITHOUT ROWID`,
  `CREATE UNIQUE INDEX postings_crate ON postings (term_id, crate_id, rank)`,
  `CREATE TABLE dependents (
    dependency TEXT NOT NULL, dependent TEXT NOT NULL,
    crate_id INTEGER NOT NULL REFERENCES crates(id),
    PRIMARY KEY (dependency, dependent)) WITHOUT ROWID`,
  `CREATE INDEX dependents_crate ON dependents (crate_id)`,
  `CREATE INDEX crates_created ON crates (created_at)`,
  `CREATE INDEX releases_published ON releases (published_at)`,
]
