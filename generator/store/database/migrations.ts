import { readFileSync } from 'node:fs'
import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { refuse } from '../../../core/error/error.ts'
import { ACCOUNTS } from './accounts.ts'
import { BLOCKS } from './blocks.ts'
import { LISTINGS } from './listings.ts'
import { REGISTRY } from './registry.ts'
import type { Tables } from './tables.ts'

/**
 * Brings the schema up to date, all steps in one transaction; refuses a database of a newer
 * version.
 */
export async function migrate(database: Kysely<Tables>, file: string): Promise<void> {
  await refuseNewer(database, file)
  const { error } = await new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest()
  if (error) throw error
}

/**
 * Refuses a database that a newer version has written: this one does not know what its steps did.
 */
async function refuseNewer(database: Kysely<Tables>, file: string): Promise<void> {
  const table = sql<{ name: string }>`SELECT name FROM sqlite_master
    WHERE type = 'table' AND name = 'kysely_migration'`
  if ((await table.execute(database)).rows.length === 0) return
  const done = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(database)
  const unknown = done.rows.map(row => row.name).filter(name => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  refuse('registry_newer', { file, running: runningVersion(), steps: unknown.join(', ') })
}

/** The steps of the schema by name, in order; a step that has been published never changes. */
const migrations: Record<string, Migration> = {
  '001_registry': statements(REGISTRY),
  '003_accounts': statements(ACCOUNTS),
  // Versions that were deleted: their names stay taken.
  '004_removal': statements([
    `CREATE TABLE tombstones (
    crate_id INTEGER NOT NULL REFERENCES crates(id), identity TEXT NOT NULL, cksum TEXT NOT NULL,
    deleted_at TEXT NOT NULL,
    PRIMARY KEY (crate_id, identity)) WITHOUT ROWID`,
  ]),
  '005_listings': statements(LISTINGS),
  // How many crates and releases there are, without counting them.
  '006_counts': statements([
    `CREATE TABLE counts (what TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID`,
    ...['crates', 'releases'].flatMap(table => [
      `INSERT INTO counts (what, n) SELECT '${table}', count(*) FROM ${table}`,
      `CREATE TRIGGER ${table}_more AFTER INSERT ON ${table} BEGIN UPDATE counts SET n = n + 1 WHERE what = '${table}'; END`,
      `CREATE TRIGGER ${table}_fewer AFTER DELETE ON ${table} BEGIN UPDATE counts SET n = n - 1 WHERE what = '${table}'; END`,
    ]),
  ]),
  '007_blocks': statements(BLOCKS),
  // How many canonical names begin with each text.
  '008_prefixes': statements([
    `CREATE TABLE prefixes (prefix TEXT PRIMARY KEY, crates INTEGER NOT NULL) WITHOUT ROWID`,
    `CREATE UNIQUE INDEX listings_canonical ON listings (canonical)`,
  ]),
  // By which hash the browser's search finds a term, and how many terms there are.
  '011_term_hashes': statements([
    `ALTER TABLE terms ADD COLUMN hash INTEGER NOT NULL DEFAULT -1`,
    `CREATE INDEX terms_hash ON terms (hash)`,
    `INSERT INTO counts (what, n) SELECT 'terms', count(*) FROM terms`,
    `CREATE TRIGGER terms_more AFTER INSERT ON terms BEGIN UPDATE counts SET n = n + 1 WHERE what = 'terms'; END`,
    `CREATE TRIGGER terms_fewer AFTER DELETE ON terms BEGIN UPDATE counts SET n = n - 1 WHERE what = 'terms'; END`,
  ]),
  // Pages that took too much to render.
  '012_plain_pages': statements([
    `CREATE TABLE plain_pages (
    release_id INTEGER NOT NULL REFERENCES releases(id) ON DELETE CASCADE, what TEXT NOT NULL,
    format TEXT NOT NULL, because TEXT NOT NULL, detail TEXT,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    PRIMARY KEY (release_id, what)) WITHOUT ROWID`,
  ]),
  // Marks whose work failed: how often, when it is tried again, and why.
  '013_retries': statements([
    `ALTER TABLE marks ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE marks ADD COLUMN retry_at TEXT`,
    `ALTER TABLE marks ADD COLUMN error TEXT`,
    `CREATE INDEX marks_failed ON marks (retry_at) WHERE retry_at IS NOT NULL`,
  ]),
}

/** The version of this program. */
function runningVersion(): string {
  const manifest = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

function statements(list: readonly string[]): Migration {
  return {
    async up(db) {
      for (const statement of list) await sql.raw(statement).execute(db)
    },
  }
}
