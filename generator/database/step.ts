import { isOnServer } from './engine.ts'
import { type Queries, run } from './statement.ts'

/**
 * A step of the schema. It *expands* if programs that do not know it work on as before: new tables,
 * indexes, triggers on new tables, and columns that may be absent from an `INSERT`. It *contracts*
 * if it takes away or changes what a program uses; then `oldest` is the step that a program has to
 * know to work afterwards.
 *
 * Daemons of two versions serve one database while they are upgraded one by one. So a change
 * of a column or its meaning adds a new one first and writes both; a later version contracts.
 */
export interface Step {
  up(db: Queries): Promise<void>
  /** Absent from a step that expands. */
  readonly oldest?: string
}

/** Returns a step that expands the schema. */
export function statements(list: readonly string[]): Step {
  return {
    async up(db) {
      for (const statement of list) await run(db, statement)
    },
  }
}

/** Returns a step that contracts the schema: afterwards a program has to know the step `oldest`. */
export function contracts(oldest: string, list: readonly string[]): Step {
  return { ...statements(list), oldest }
}

const TABLES = [
  `CREATE TABLE crates (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE,
    skeleton TEXT NOT NULL, created_at TEXT NOT NULL, generation INTEGER NOT NULL)`,
  'CREATE INDEX crates_skeleton ON crates (skeleton)',
  'CREATE INDEX crates_created ON crates (created_at)',
  `CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, login TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE,
    name TEXT, admin INTEGER NOT NULL, password TEXT, created_at TEXT NOT NULL, locked_at TEXT)`,
  `CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT, crate_id INTEGER NOT NULL REFERENCES crates(id),
    version TEXT NOT NULL, identity TEXT NOT NULL, cksum TEXT NOT NULL, size INTEGER NOT NULL,
    yanked INTEGER NOT NULL, line TEXT NOT NULL, about TEXT NOT NULL, readme TEXT,
    published_at TEXT, published_by INTEGER REFERENCES users(id), contents TEXT,
    UNIQUE (crate_id, identity))`,
  'CREATE INDEX releases_cksum ON releases (cksum)',
  'CREATE INDEX releases_published ON releases (published_at)',
  `CREATE TABLE owners (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    added_at TEXT NOT NULL, added_by INTEGER REFERENCES users(id),
    PRIMARY KEY (crate_id, user_id)) WITHOUT ROWID`,
  'CREATE INDEX owners_user ON owners (user_id)',
  `CREATE TABLE invitations (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    invited_at TEXT NOT NULL, invited_by INTEGER REFERENCES users(id),
    PRIMARY KEY (crate_id, user_id)) WITHOUT ROWID`,
  'CREATE INDEX invitations_user ON invitations (user_id)',
  `CREATE TABLE tombstones (
    crate_id INTEGER NOT NULL REFERENCES crates(id), identity TEXT NOT NULL, cksum TEXT NOT NULL,
    deleted_at TEXT NOT NULL, PRIMARY KEY (crate_id, identity)) WITHOUT ROWID`,
  `CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users(id),
    name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT, crates TEXT,
    created_at TEXT NOT NULL, expires_at TEXT, last_used_at TEXT, revoked_at TEXT)`,
  'CREATE INDEX tokens_user ON tokens (user_id)',
  `CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users(id),
    hash TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL, expires_at TEXT NOT NULL)`,
  'CREATE INDEX sessions_user ON sessions (user_id)',
  `CREATE TABLE password_links (
    hash TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id),
    expires_at TEXT NOT NULL) WITHOUT ROWID`,
  'CREATE INDEX password_links_user ON password_links (user_id)',
  `CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, action TEXT NOT NULL,
    user_id INTEGER REFERENCES users(id), actor TEXT NOT NULL,
    token_id INTEGER REFERENCES tokens(id), crate TEXT, version TEXT, detail TEXT, address TEXT)`,
  'CREATE INDEX audit_crate ON audit (crate)',
  'CREATE INDEX audit_actor ON audit (actor)',
  'CREATE INDEX audit_action ON audit (action)',
  `CREATE TRIGGER audit_kept BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit events are kept'); END`,
  `CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit events are fixed'); END`,
  `CREATE TABLE marks (
    kind TEXT NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, retry_at TEXT, error TEXT,
    PRIMARY KEY (kind, subject)) WITHOUT ROWID`,
  'CREATE INDEX marks_failed ON marks (retry_at) WHERE retry_at IS NOT NULL',
  'CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  'CREATE TABLE schema_record (newest TEXT NOT NULL, oldest TEXT NOT NULL)',
  `CREATE TABLE release_downloads (
    release_id INTEGER PRIMARY KEY REFERENCES releases(id) ON DELETE CASCADE,
    total INTEGER NOT NULL, last_day INTEGER NOT NULL, days TEXT NOT NULL)`,
  `CREATE TABLE crate_downloads (
    crate_id INTEGER PRIMARY KEY REFERENCES crates(id) ON DELETE CASCADE,
    total INTEGER NOT NULL, last_day INTEGER NOT NULL, days TEXT NOT NULL,
    recent INTEGER NOT NULL, shown_at TEXT, due_at TEXT)`,
  'CREATE INDEX crate_downloads_total ON crate_downloads (total)',
  'CREATE INDEX crate_downloads_recent ON crate_downloads (recent)',
  'CREATE INDEX crate_downloads_due ON crate_downloads (due_at) WHERE due_at IS NOT NULL',
  'CREATE TABLE registry_downloads (day INTEGER PRIMARY KEY, n INTEGER NOT NULL)',
  `CREATE TABLE imported_logs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, first_line TEXT NOT NULL, bytes INTEGER NOT NULL,
    sum TEXT NOT NULL, imported_at TEXT NOT NULL)`,
  'CREATE INDEX imported_logs_first_line ON imported_logs (first_line)',
  `CREATE TABLE listings (
    crate_id INTEGER PRIMARY KEY REFERENCES crates(id), canonical TEXT NOT NULL,
    newest_id INTEGER NOT NULL REFERENCES releases(id),
    latest_id INTEGER NOT NULL REFERENCES releases(id),
    stable_id INTEGER REFERENCES releases(id), versions INTEGER NOT NULL,
    yanked INTEGER NOT NULL, updated_at TEXT NOT NULL, bytes INTEGER NOT NULL DEFAULT 0,
    dependents INTEGER NOT NULL DEFAULT 0, step INTEGER NOT NULL DEFAULT 0,
    found_id INTEGER, found_yanked INTEGER NOT NULL DEFAULT 0)`,
  'CREATE INDEX listings_order ON listings (yanked, canonical)',
  'CREATE INDEX listings_updated ON listings (updated_at) WHERE versions > 1',
  'CREATE UNIQUE INDEX listings_canonical ON listings (canonical)',
  'CREATE INDEX listings_bytes ON listings (bytes)',
  'CREATE INDEX listings_dependents ON listings (dependents DESC, canonical)',
  'CREATE INDEX listings_all_updated ON listings (updated_at)',
  `CREATE TABLE dependents (
    dependency TEXT NOT NULL, dependent TEXT NOT NULL,
    crate_id INTEGER NOT NULL REFERENCES crates(id), elsewhere INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (dependency, dependent)) WITHOUT ROWID`,
  'CREATE INDEX dependents_crate ON dependents (crate_id)',
  `CREATE TRIGGER dependents_more AFTER INSERT ON dependents
    BEGIN UPDATE listings SET dependents = dependents + 1 WHERE canonical = NEW.dependency; END`,
  `CREATE TRIGGER dependents_fewer AFTER DELETE ON dependents
    BEGIN UPDATE listings SET dependents = dependents - 1 WHERE canonical = OLD.dependency; END`,
  `CREATE TRIGGER listings_more AFTER INSERT ON listings
    BEGIN UPDATE listings SET dependents =
      (SELECT count(*) FROM dependents WHERE dependency = NEW.canonical)
      WHERE crate_id = NEW.crate_id; END`,
  'CREATE TABLE prefixes (prefix TEXT PRIMARY KEY, crates INTEGER NOT NULL) WITHOUT ROWID',
  `CREATE TABLE labels (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, slug TEXT NOT NULL, crates INTEGER NOT NULL)`,
  'CREATE INDEX labels_crates ON labels (kind, crates DESC, slug)',
  'CREATE INDEX labels_slug ON labels (kind, slug)',
  `CREATE TABLE crate_labels (
    label_id INTEGER NOT NULL, weight INTEGER NOT NULL, crate_id INTEGER NOT NULL,
    PRIMARY KEY (label_id, weight, crate_id)) WITHOUT ROWID`,
  'CREATE INDEX crate_labels_crate ON crate_labels (crate_id)',
  'CREATE TABLE counts (what TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID',
  "INSERT INTO counts (what, n) VALUES ('releases', 0), ('bytes', 0)",
  `CREATE TRIGGER releases_more AFTER INSERT ON releases
    BEGIN UPDATE counts SET n = n + 1 WHERE what = 'releases'; END`,
  `CREATE TRIGGER releases_fewer AFTER DELETE ON releases
    BEGIN UPDATE counts SET n = n - 1 WHERE what = 'releases'; END`,
  `CREATE TRIGGER releases_bytes_more AFTER INSERT ON releases
    BEGIN UPDATE counts SET n = n + NEW.size WHERE what = 'bytes'; END`,
  `CREATE TRIGGER releases_bytes_fewer AFTER DELETE ON releases
    BEGIN UPDATE counts SET n = n - OLD.size WHERE what = 'bytes'; END`,
]

/**
 * The daemons of a server count together here; a single daemon has it in memory. Nobody misses it
 * after a crash, so it waits for no disk. A row is `level` tokens at the time `at`. Clocks of daemons
 * differ: where one is ahead by less than a minute, nobody gets more tokens for it.
 */
const SERVER_TABLES = [
  `CREATE UNLOGGED TABLE rate_limits (
    key TEXT PRIMARY KEY, level double precision NOT NULL, at double precision NOT NULL)`,
  `CREATE FUNCTION take_token(bucket text, most double precision, now double precision)
    RETURNS double precision LANGUAGE plpgsql AS $body$
    DECLARE
      found rate_limits;
      before double precision;
    BEGIN
      INSERT INTO rate_limits AS one (key, level, at) VALUES (bucket, most, now)
        ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING one.* INTO found;
      before := least(most, found.level + greatest(0, now - found.at) / 60000 * most);
      UPDATE rate_limits SET
        level = CASE WHEN before > 0.999999 THEN greatest(0, before - 1) ELSE before END,
        at = CASE WHEN found.at > now + 60000 THEN now ELSE greatest(found.at, now) END
        WHERE key = bucket;
      RETURN before;
    END $body$`,
]

/** Makes a new database what step 026 left, but for tables that later steps remove. */
export const firstStep: Step = {
  async up(db) {
    await statements(TABLES).up(db)
    if (isOnServer(db)) await statements(SERVER_TABLES).up(db)
  },
}
