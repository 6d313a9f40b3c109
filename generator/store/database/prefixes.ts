/** Further step of the schema: how many crates' canonical names begin with a text, for every text that one does. */
export const PREFIXES = [
  `CREATE TABLE prefixes (prefix TEXT PRIMARY KEY, crates INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE UNIQUE INDEX listings_canonical ON listings (canonical)`,
]
