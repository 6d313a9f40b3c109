/** Further step of the schema: versions that were deleted, so that nobody puts other bytes in their place. */
export const REMOVAL = [
  `CREATE TABLE tombstones (
    crate_id INTEGER NOT NULL REFERENCES crates(id), identity TEXT NOT NULL, cksum TEXT NOT NULL, deleted_at TEXT NOT NULL,
    PRIMARY KEY (crate_id, identity)) WITHOUT ROWID`,
]
