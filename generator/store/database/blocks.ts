import type { ColumnType } from 'kysely'

/**
 * Bytes in a column; drivers differ in how they give them back. None may be empty: libsql cannot
 * read an empty one.
 */
type Bytes = ColumnType<Uint8Array | ArrayBuffer, Uint8Array, Uint8Array>

/** The bytes of a column. */
export function bytesOf(value: Uint8Array | ArrayBuffer): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array(value)
}

/**
 * What the step below makes: which crates the common words find, as bits; see
 * `generator/catalog/common-words.ts`.
 */
export interface BlockTables {
  /** A block of crates that a common word finds, by how well it fits them. */
  blocks: { term_id: number; block: number; class: number; crates: Bytes }
  /** How long the canonical names of a block of crates are: a byte each. */
  name_lengths: { block: number; lengths: Bytes }
}

/** Further step of the schema. */
export const BLOCKS = [
  `CREATE TABLE blocks (
    term_id INTEGER NOT NULL, block INTEGER NOT NULL, class INTEGER NOT NULL, crates BLOB NOT NULL,
    PRIMARY KEY (term_id, block, class)) WITHOUT ROWID`,
  `CREATE TABLE name_lengths (block INTEGER PRIMARY KEY, lengths BLOB NOT NULL)`,
  `ALTER TABLE terms ADD COLUMN common INTEGER NOT NULL DEFAULT 0`,
]
