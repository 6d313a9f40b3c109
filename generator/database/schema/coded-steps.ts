import { highestVersion, type Version } from '../../../core/version.ts'
import { isOnServer } from '../engine.ts'
import { all, column, type Queries, run, upsert, value } from '../statement.ts'

/** A move to another database, as versions up to 027 recorded it in both. */
interface OldMove {
  readonly id: string
  readonly side: 'leaving' | 'coming'
  readonly place: string
  readonly ended_at: string | null
}

/**
 * Removes what moves of earlier versions have left: triggers and two tables. Records that were
 * moved away stay closed, an incomplete copy stays one, and a move that was only begun is given up.
 */
export async function dropOldMoves(db: Queries): Promise<void> {
  for (const name of await column<string>(db, isOnServer(db) ? FUNCTIONS : TRIGGERS))
    await run(db, isOnServer(db) ? `DROP FUNCTION ${name} CASCADE` : `DROP TRIGGER ${name}`)
  await run(db, 'DROP TABLE IF EXISTS changed_rows')
  const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'moves'"
  if ((await value(db, table)) === null) return
  const moves = await all<OldMove>(db, 'SELECT id, side, place, ended_at FROM moves')
  await run(db, 'DROP TABLE moves')
  for (const { id, side, place, ended_at: at } of moves) {
    const [key, fact] = side === 'coming' ? ['copy', { id, place }] : ['moved', { id, place, at }]
    if (side === 'leaving' && at === null) continue
    await upsert(db, 'facts', ['key'], { key, value: JSON.stringify(fact) })
  }
}

const TRIGGERS = `SELECT name FROM sqlite_master
  WHERE type = 'trigger' AND substr(name, 1, 8) = 'changed_'`
const FUNCTIONS = `SELECT proname AS name FROM pg_proc
  WHERE pronamespace = CAST(current_schema() AS regnamespace)
    AND substr(proname, 1, 8) = 'changed_'`

interface Candidate {
  readonly id: number
  readonly crate_id: number
  readonly version: Version
  readonly newest: Version
}

/**
 * Adds to the listing of each crate its highest version where that is not the one that represents
 * it: a pre-release above a stable version, neither of them yanked.
 */
export async function findHighest(db: Queries): Promise<void> {
  await run(db, 'ALTER TABLE listings ADD COLUMN max_id INTEGER')
  const highest = new Map<number, Candidate>()
  for (const one of await all<Candidate>(db, PRERELEASES)) {
    const known = highest.get(one.crate_id) ?? { ...one, version: one.newest }
    if (highestVersion([known, one]) === one) highest.set(one.crate_id, one)
  }
  for (const { id, crate_id } of highest.values())
    await run(db, 'UPDATE listings SET max_id = ? WHERE crate_id = ?', id, crate_id)
}

const PRERELEASES = `SELECT releases.id, releases.crate_id, releases.version,
    newest.version AS newest
  FROM releases JOIN listings ON listings.crate_id = releases.crate_id
  JOIN releases AS newest ON newest.id = listings.newest_id
  WHERE releases.yanked = 0 AND releases.identity LIKE '%-%' AND listings.stable_id IS NOT NULL`

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
