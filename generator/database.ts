import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Generated,
  Kysely,
  type Migration,
  Migrator,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  sql,
} from 'kysely'
import Libsql from 'libsql'

/** The records of the registry. Times are RFC 3339 in UTC with whole seconds, flags 0 or 1, lists JSON text. */
export interface Tables {
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
  users: {
    id: Generated<number>
    login: string
    canonical: string
    name: string | null
    admin: number
    password: string | null
    created_at: string
  }
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
  }
  /** What has changed in the truth and is not yet rendered; written in the transaction of the change. */
  marks: { kind: MarkKind; subject: number; generation: number }
  facts: { key: string; value: string }
}

/** `file`: the `.crate` of a release is to be shown; `index`: the index file of a crate is to be rendered. */
export type MarkKind = 'file' | 'index'

/** The open database. */
export type Database = Kysely<Tables>

/**
 * Opens (and creates, and migrates) the SQLite database at `path`: WAL, `synchronous=FULL`, so that a finished
 * transaction survives a power cut. Other processes may use the same file; a writer waits up to 10 s for another.
 */
export async function openDatabase(path: string): Promise<Database> {
  mkdirSync(dirname(path), { recursive: true })
  const connection = new Libsql(path)
  connection.exec(
    'PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
  )
  // libsql speaks better-sqlite3's interface, which is the one kysely asks for.
  const database = new Kysely<Tables>({ dialect: new ImmediateDialect({ database: connection as SqliteDatabase }) })
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

/** Every transaction takes the write lock at its start: a deferred one that turns into a writer can fail half-way. */
class ImmediateDialect extends SqliteDialect {
  readonly #settings: SqliteDialectConfig
  constructor(settings: SqliteDialectConfig) {
    super(settings)
    this.#settings = settings
  }
  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#settings)
  }
}

class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }
}

const migrations: Record<string, Migration> = {
  '001_registry': {
    async up(db) {
      for (const statement of REGISTRY) await sql.raw(statement).execute(db)
    },
  },
}

const REGISTRY = [
  `CREATE TABLE crates (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE,
    skeleton TEXT NOT NULL, created_at TEXT NOT NULL, generation INTEGER NOT NULL)`,
  `CREATE INDEX crates_skeleton ON crates (skeleton)`,
  `CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, login TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE, name TEXT,
    admin INTEGER NOT NULL, password TEXT, created_at TEXT NOT NULL)`,
  `CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT, crate_id INTEGER NOT NULL REFERENCES crates(id), version TEXT NOT NULL,
    identity TEXT NOT NULL, cksum TEXT NOT NULL, size INTEGER NOT NULL, yanked INTEGER NOT NULL, line TEXT NOT NULL,
    about TEXT NOT NULL, readme TEXT, published_at TEXT, published_by INTEGER REFERENCES users(id),
    UNIQUE (crate_id, identity))`,
  `CREATE INDEX releases_cksum ON releases (cksum)`,
  `CREATE TABLE owners (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    added_at TEXT NOT NULL, added_by INTEGER REFERENCES users(id), PRIMARY KEY (crate_id, user_id)) WITHOUT ROWID`,
  `CREATE INDEX owners_user ON owners (user_id)`,
  `CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users(id), name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE, scopes TEXT, crates TEXT, created_at TEXT NOT NULL, expires_at TEXT, last_used_at TEXT,
    revoked_at TEXT)`,
  `CREATE INDEX tokens_user ON tokens (user_id)`,
  `CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, action TEXT NOT NULL, user_id INTEGER REFERENCES users(id),
    actor TEXT NOT NULL, token_id INTEGER REFERENCES tokens(id), crate TEXT, version TEXT, detail TEXT)`,
  `CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit events are kept'); END`,
  `CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit events are fixed'); END`,
  `CREATE TABLE marks (
    kind TEXT NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL, PRIMARY KEY (kind, subject)) WITHOUT ROWID`,
  `CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
]
