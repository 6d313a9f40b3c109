import { isOnServer } from '../engine.ts'
import { type Queries, run } from '../statement.ts'

/**
 * Replaces the five tables of the earlier search by the two that its files are rendered from, and
 * marks all crates to be derived. Nothing else reads the steps of dependents any more.
 */
export async function oneSearch(db: Queries): Promise<void> {
  for (const name of ['terms_more', 'terms_fewer', 'listings_found', 'listings_weight'])
    await run(db, isOnServer(db) ? `DROP FUNCTION ${name} CASCADE` : `DROP TRIGGER ${name}`)
  for (const table of ['shelves', 'blocks', 'crate_bytes', 'postings', 'terms'])
    await run(db, `DROP TABLE ${table}`)
  for (const column of ['found_id', 'found_yanked', 'step'])
    await run(db, `ALTER TABLE listings DROP COLUMN ${column}`)
  for (const statement of STATEMENTS) await run(db, statement)
}

const STATEMENTS = [
  "DELETE FROM counts WHERE what = 'terms'",
  "DELETE FROM facts WHERE key = 'search_bits'",
  "DELETE FROM marks WHERE kind IN ('terms', 'rank', 'entry', 'search', 'common', 'spread')",
  `CREATE TABLE search_crates (
    crate_id INTEGER PRIMARY KEY, terms TEXT NOT NULL)`,
  `CREATE TABLE search_terms (
    shard INTEGER NOT NULL, term TEXT NOT NULL, place INTEGER NOT NULL, shape INTEGER NOT NULL,
    words INTEGER NOT NULL, postings TEXT NOT NULL, PRIMARY KEY (shard, term)) WITHOUT ROWID`,
  'CREATE INDEX search_terms_place ON search_terms (shard, place)',
  'CREATE INDEX search_terms_shape ON search_terms (shard, shape) WHERE words > 0',
  "INSERT INTO marks (kind, subject, generation) SELECT 'search', id, generation FROM crates",
]
