import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Generated, Kysely, type Migration, Migrator, sql } from 'kysely'
import Libsql from 'libsql'
import { refuse } from '../../../core/error/error.ts'
import { ACCOUNTS } from './accounts.ts'
import { BLOCKS, type BlockTables } from './blocks.ts'
import { COUNTS } from './counts.ts'
import { LibsqlDialect } from './dialect.ts'
import { LISTINGS, type ListingTables } from './listings.ts'
import type { MarkKind } from './mark-kinds.ts'
import { PLAIN_PAGES } from './plain-pages.ts'
import { PREFIXES } from './prefixes.ts'
import { REGISTRY } from './registry.ts'
import { REMOVAL } from './removal.ts'
import { RETRIES } from './retries.ts'
import { TERM_HASHES } from './term-hashes.ts'

/** The records of the registry. Times are RFC 3339 in UTC with whole seconds, flags 0 or 1, lists JSON text. */
export interface Tables extends ListingTables, BlockTables {
  crates: {
    id: Generated<number>
    name: string
    canonical: string
    /** What is equal for names that are easily mistaken for each other; see the policy. */
    skeleton: string
    created_at: string
    /** Audit event of the last change; grows with every change of the crate. */
    generation: number
  }
  releases: {
    id: Generated<number>
    crate_id: number
    version: string
    /** The version without build metadata: unique in a crate. */
    identity: string
    cksum: string
    size: number
    yanked: number
    /** The index line as it is published, without the line end. */
    line: string
    /** Description fields as JSON. */
    about: string
    readme: string | null
    published_at: string | null
    published_by: number | null
  }
  owners: { crate_id: number; user_id: number; added_at: string; added_by: number | null }
  invitations: { crate_id: number; user_id: number; invited_at: string; invited_by: number | null }
  tombstones: { crate_id: number; identity: string; cksum: string; deleted_at: string }
  users: {
    id: Generated<number>
    login: string
    canonical: string
    name: string | null
    admin: number
    /** What `daemon/password.ts` makes of one; null for who has none. */
    password: string | null
    created_at: string
    /** Since when neither token nor login is good; null for who is not locked out. */
    locked_at: string | null
  }
  /** Logins in the browser; one that ended has no row. */
  sessions: {
    id: Generated<number>
    user_id: number
    /** SHA-256 of what the cookie holds, hex. */
    hash: string
    agent: string
    created_at: string
    last_seen_at: string
    expires_at: string
  }
  /** One-time links to set a password; one that was used has no row. `hash` is the SHA-256 of its secret, hex. */
  password_links: { hash: string; user_id: number; expires_at: string }
  tokens: {
    id: Generated<number>
    user_id: number
    name: string
    /** SHA-256 of the token, hex. */
    hash: string
    scopes: string | null
    crates: string | null
    created_at: string
    expires_at: string | null
    last_used_at: string | null
    revoked_at: string | null
  }
  audit: {
    id: Generated<number>
    at: string
    action: string
    user_id: number | null
    actor: string
    token_id: number | null
    crate: string | null
    version: string | null
    detail: string | null
    address: string | null
  }
  /** What has changed in the truth and is not yet rendered; written in the transaction of the change. */
  marks: {
    kind: MarkKind
    subject: number
    generation: number
    /** How often its work failed. */
    attempts: Generated<number>
    /** When failed work is tried again; null for what is due. */
    retry_at: string | null
    /** What it failed with. */
    error: string | null
  }
  /** Parts of pages that took too much to render: they are plain text, or not there. */
  plain_pages: {
    release_id: number
    what: 'readme' | 'source'
    /** The format of pages that it was tried for. */
    format: string
    /** Why, as a clause for the page, and what else the operator should know. */
    because: string
    detail: string | null
    at: Generated<string>
  }
  counts: { what: 'crates' | 'releases' | 'terms'; n: number }
  facts: { key: string; value: string }
}

/** The open database. */
export type Database = Kysely<Tables>

/**
 * Opens (and creates, and migrates) the SQLite database at `path`: WAL, `synchronous=FULL`, so that a finished
 * transaction survives a power cut. A new file is for its owner alone: it has hashes of passwords. Other processes may use the same file; a writer waits up to 10 s for another.
 */
export async function openDatabase(path: string): Promise<Database> {
  mkdirSync(dirname(path), { recursive: true })
  // SQLite gives what it puts beside it, the WAL say, the same rights.
  closeSync(openSync(path, 'a', 0o600))
  const writer = new Libsql(path)
  // Only this waits in SQLite itself, which stands still meanwhile; from then on the dialect waits.
  writer.exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  writer.exec('PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 0')
  const database = new Kysely<Tables>({
    dialect: new LibsqlDialect({ writer, reader: new Libsql(path) }),
  })
  await refuseNewer(database, path)
  const { error } = await new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest()
  if (error) {
    await database.destroy()
    throw error
  }
  return database
}

/** Refuses a database that a newer version has written: this one does not know what its steps did. */
async function refuseNewer(database: Database, file: string): Promise<void> {
  const table = sql<{ name: string }>`SELECT name FROM sqlite_master
    WHERE type = 'table' AND name = 'kysely_migration'`
  if ((await table.execute(database)).rows.length === 0) return
  const done = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(database)
  const unknown = done.rows.map(row => row.name).filter(name => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  await database.destroy()
  refuse('registry_newer', { file, running: runningVersion(), steps: unknown.join(', ') })
}

/** By name, in order; a step that has been published never changes. */
const migrations: Record<string, Migration> = {
  '001_registry': statements(REGISTRY),
  '003_accounts': statements(ACCOUNTS),
  '004_removal': statements(REMOVAL),
  '005_listings': statements(LISTINGS),
  '006_counts': statements(COUNTS),
  '007_blocks': statements(BLOCKS),
  '008_prefixes': statements(PREFIXES),
  '011_term_hashes': statements(TERM_HASHES),
  '012_plain_pages': statements(PLAIN_PAGES),
  '013_retries': statements(RETRIES),
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
