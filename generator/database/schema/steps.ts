import { dropOldMoves, findHighest, oneSearch } from './coded-steps.ts'
import { counted, weekly } from './row-counts.ts'
import { contracts, onServer, type Step, statements } from './step.ts'

/**
 * The steps by name, in order; a published step never changes. New ones expand, or are made with
 * `contracts`: see `Step`.
 */
export const steps: Readonly<Record<string, Step>> = {
  // Releases and their owners, users, tokens, audit events, marks.
  '001_registry': statements([
    `CREATE TABLE crates (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE,
    skeleton TEXT NOT NULL, created_at TEXT NOT NULL, generation INTEGER NOT NULL)`,
    `CREATE INDEX crates_skeleton ON crates (skeleton)`,
    `CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, login TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE,
    name TEXT, admin INTEGER NOT NULL, password TEXT, created_at TEXT NOT NULL)`,
    `CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT, crate_id INTEGER NOT NULL REFERENCES crates(id),
    version TEXT NOT NULL, identity TEXT NOT NULL, cksum TEXT NOT NULL, size INTEGER NOT NULL,
    yanked INTEGER NOT NULL, line TEXT NOT NULL, about TEXT NOT NULL, readme TEXT,
    published_at TEXT, published_by INTEGER REFERENCES users(id), UNIQUE (crate_id, identity))`,
    `CREATE INDEX releases_cksum ON releases (cksum)`,
    `CREATE TABLE owners (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    added_at TEXT NOT NULL, added_by INTEGER REFERENCES users(id),
    PRIMARY KEY (crate_id, user_id)) WITHOUT ROWID`,
    `CREATE INDEX owners_user ON owners (user_id)`,
    `CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users(id),
    name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT, crates TEXT,
    created_at TEXT NOT NULL, expires_at TEXT, last_used_at TEXT, revoked_at TEXT)`,
    `CREATE INDEX tokens_user ON tokens (user_id)`,
    `CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, action TEXT NOT NULL,
    user_id INTEGER REFERENCES users(id), actor TEXT NOT NULL,
    token_id INTEGER REFERENCES tokens(id), crate TEXT, version TEXT, detail TEXT)`,
    `CREATE TRIGGER audit_kept BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit events are kept'); END`,
    `CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit events are fixed'); END`,
    `CREATE TABLE marks (
    kind TEXT NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)) WITHOUT ROWID`,
    `CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
  ]),
  // Invitations to own a crate, browser sessions, one-time links, locked-out users.
  '003_accounts': statements([
    `CREATE TABLE invitations (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    invited_at TEXT NOT NULL, invited_by INTEGER REFERENCES users(id),
    PRIMARY KEY (crate_id, user_id)) WITHOUT ROWID`,
    `CREATE INDEX invitations_user ON invitations (user_id)`,
    `CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users(id),
    hash TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL, expires_at TEXT NOT NULL)`,
    `CREATE INDEX sessions_user ON sessions (user_id)`,
    `CREATE TABLE password_links (
    hash TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id),
    expires_at TEXT NOT NULL) WITHOUT ROWID`,
    `CREATE INDEX password_links_user ON password_links (user_id)`,
    `ALTER TABLE users ADD COLUMN locked_at TEXT`,
    `ALTER TABLE audit ADD COLUMN address TEXT`,
    `CREATE INDEX audit_crate ON audit (crate)`,
    `CREATE INDEX audit_actor ON audit (actor)`,
  ]),
  // Versions that were deleted: their names stay taken.
  '004_removal': statements([
    `CREATE TABLE tombstones (
    crate_id INTEGER NOT NULL REFERENCES crates(id), identity TEXT NOT NULL, cksum TEXT NOT NULL,
    deleted_at TEXT NOT NULL, PRIMARY KEY (crate_id, identity)) WITHOUT ROWID`,
  ]),
  // Lists, search and dependents; the search needs both orders of `postings`.
  '005_listings': statements([
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
  ]),
  // The number of crates and releases, kept so that they need not be counted.
  '006_counts': statements([
    `CREATE TABLE counts (what TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID`,
    ...counted('crates'),
    ...counted('releases'),
  ]),
  // Bitmaps of the crates found by common terms.
  '007_blocks': statements([
    `CREATE TABLE blocks (
    term_id INTEGER NOT NULL, block INTEGER NOT NULL, class INTEGER NOT NULL, crates BLOB NOT NULL,
    PRIMARY KEY (term_id, block, class)) WITHOUT ROWID`,
    `CREATE TABLE name_lengths (block INTEGER PRIMARY KEY, lengths BLOB NOT NULL)`,
    `ALTER TABLE terms ADD COLUMN common INTEGER NOT NULL DEFAULT 0`,
  ]),
  // The number of canonical names with each prefix.
  '008_prefixes': statements([
    `CREATE TABLE prefixes (prefix TEXT PRIMARY KEY, crates INTEGER NOT NULL) WITHOUT ROWID`,
    `CREATE UNIQUE INDEX listings_canonical ON listings (canonical)`,
  ]),
  // The hash by which the browser's search finds a term, and the number of terms.
  '011_term_hashes': statements([
    `ALTER TABLE terms ADD COLUMN hash INTEGER NOT NULL DEFAULT -1`,
    `CREATE INDEX terms_hash ON terms (hash)`,
    ...counted('terms'),
  ]),
  // Pages that took too much time or memory to render.
  '012_plain_pages': statements([
    `CREATE TABLE plain_pages (
    release_id INTEGER NOT NULL REFERENCES releases(id) ON DELETE CASCADE, what TEXT NOT NULL,
    format TEXT NOT NULL, because TEXT NOT NULL, detail TEXT,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    PRIMARY KEY (release_id, what)) WITHOUT ROWID`,
  ]),
  // Failed work of marks: number of attempts, time of the next one, and error.
  '013_retries': statements([
    `ALTER TABLE marks ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE marks ADD COLUMN retry_at TEXT`,
    `ALTER TABLE marks ADD COLUMN error TEXT`,
    `CREATE INDEX marks_failed ON marks (retry_at) WHERE retry_at IS NOT NULL`,
  ]),
  // The empty term found every crate; the empty prefix counts them as well.
  '014_no_empty_term': statements([`DELETE FROM terms WHERE term = ''`]),
  // Lists of similar words, filters and orders of the search.
  '015_forgiving_search': statements([
    `ALTER TABLE terms ADD COLUMN words INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE terms ADD COLUMN grade INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE terms ADD COLUMN start INTEGER NOT NULL DEFAULT -1`,
    `ALTER TABLE terms ADD COLUMN shape INTEGER NOT NULL DEFAULT -1`,
    `CREATE INDEX terms_start ON terms (start, grade DESC, term) WHERE grade > 0`,
    `CREATE INDEX terms_shape ON terms (shape, grade DESC, term) WHERE grade > 0`,
    `DROP TABLE name_lengths`,
    `CREATE TABLE crate_bytes (
    block INTEGER PRIMARY KEY, lengths BLOB NOT NULL, states BLOB NOT NULL)`,
  ]),
  // What packages contain, and which dependents take a crate from another registry.
  '017_contents': statements([
    `ALTER TABLE releases ADD COLUMN contents TEXT`,
    `CREATE INDEX releases_uncounted ON releases (crate_id) WHERE contents IS NULL`,
    `ALTER TABLE dependents ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0`,
  ]),
  // Pages of keywords and categories, orders of the list of crates, statistics.
  '019_labels': statements([
    `CREATE TABLE labels (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, slug TEXT NOT NULL, crates INTEGER NOT NULL)`,
    `CREATE INDEX labels_crates ON labels (kind, crates DESC, slug)`,
    `CREATE INDEX labels_slug ON labels (kind, slug)`,
    `CREATE TABLE crate_labels (
    label_id INTEGER NOT NULL, weight INTEGER NOT NULL, crate_id INTEGER NOT NULL,
    PRIMARY KEY (label_id, weight, crate_id)) WITHOUT ROWID`,
    `CREATE INDEX crate_labels_crate ON crate_labels (crate_id)`,
    `ALTER TABLE listings ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE listings ADD COLUMN dependents INTEGER NOT NULL DEFAULT 0`,
    `CREATE INDEX listings_bytes ON listings (bytes)`,
    `CREATE INDEX listings_dependents ON listings (dependents DESC, canonical)`,
    `CREATE INDEX listings_all_updated ON listings (updated_at)`,
    `CREATE TRIGGER dependents_more AFTER INSERT ON dependents
    BEGIN UPDATE listings SET dependents = dependents + 1 WHERE canonical = NEW.dependency; END`,
    `CREATE TRIGGER dependents_fewer AFTER DELETE ON dependents
    BEGIN UPDATE listings SET dependents = dependents - 1 WHERE canonical = OLD.dependency; END`,
    `CREATE TRIGGER listings_more AFTER INSERT ON listings
    BEGIN UPDATE listings SET dependents =
      (SELECT count(*) FROM dependents WHERE dependency = NEW.canonical)
      WHERE crate_id = NEW.crate_id; END`,
    `CREATE TRIGGER listings_weight AFTER UPDATE OF dependents ON listings
    WHEN length(27 * NEW.dependents * NEW.dependents * NEW.dependents)
      <> length(27 * OLD.dependents * OLD.dependents * OLD.dependents)
    BEGIN UPDATE crate_labels
      SET weight = length(27 * NEW.dependents * NEW.dependents * NEW.dependents)
      WHERE crate_id = NEW.crate_id; END`,
    `INSERT INTO counts (what, n) SELECT 'bytes', coalesce(sum(size), 0) FROM releases`,
    `CREATE TRIGGER releases_bytes_more AFTER INSERT ON releases
    BEGIN UPDATE counts SET n = n + NEW.size WHERE what = 'bytes'; END`,
    `CREATE TRIGGER releases_bytes_fewer AFTER DELETE ON releases
    BEGIN UPDATE counts SET n = n - OLD.size WHERE what = 'bytes'; END`,
    `CREATE TABLE weeks (
    week INTEGER PRIMARY KEY, releases INTEGER NOT NULL, crates INTEGER NOT NULL)`,
    ...weekly('releases', 'published_at'),
    ...weekly('crates', 'created_at'),
  ]),
  // Downloads by release, crate and day, and the access logs that were imported.
  '020_downloads': statements([
    `CREATE TABLE release_downloads (
    release_id INTEGER PRIMARY KEY REFERENCES releases(id) ON DELETE CASCADE,
    total INTEGER NOT NULL, last_day INTEGER NOT NULL, days TEXT NOT NULL)`,
    `CREATE TABLE crate_downloads (
    crate_id INTEGER PRIMARY KEY REFERENCES crates(id) ON DELETE CASCADE,
    total INTEGER NOT NULL, last_day INTEGER NOT NULL, days TEXT NOT NULL,
    recent INTEGER NOT NULL, shown_at TEXT, due_at TEXT)`,
    `CREATE INDEX crate_downloads_total ON crate_downloads (total)`,
    `CREATE INDEX crate_downloads_recent ON crate_downloads (recent)`,
    `CREATE INDEX crate_downloads_due ON crate_downloads (due_at) WHERE due_at IS NOT NULL`,
    `CREATE TABLE registry_downloads (day INTEGER PRIMARY KEY, n INTEGER NOT NULL)`,
    `CREATE TABLE imported_logs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, first_line TEXT NOT NULL, bytes INTEGER NOT NULL,
    sum TEXT NOT NULL, imported_at TEXT NOT NULL)`,
    `CREATE INDEX imported_logs_first_line ON imported_logs (first_line)`,
  ]),
  // The audit log is searched by action.
  '021_audit_actions': statements([`CREATE INDEX audit_action ON audit (action)`]),
  // Images of READMEs that the public tree has a copy of, or will have, and who shows them.
  '022_images': statements([
    `CREATE TABLE images (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL UNIQUE, path TEXT, width INTEGER, height INTEGER,
    bytes INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, retry_at TEXT,
    problem TEXT)`,
    `CREATE INDEX images_due ON images (retry_at) WHERE retry_at IS NOT NULL`,
    `CREATE INDEX images_path ON images (path) WHERE path IS NOT NULL`,
    `CREATE TABLE image_uses (
    release_id INTEGER NOT NULL REFERENCES releases(id) ON DELETE CASCADE,
    image_id INTEGER NOT NULL REFERENCES images(id) ON DELETE CASCADE,
    PRIMARY KEY (release_id, image_id)) WITHOUT ROWID`,
    `CREATE INDEX image_uses_image ON image_uses (image_id)`,
  ]),
  // Searches rank crates by dependents; common terms are spread over shelves.
  '023_ranks': statements([
    `ALTER TABLE listings ADD COLUMN step INTEGER NOT NULL DEFAULT 0`,
    `DROP TABLE crate_bytes`,
    `CREATE TABLE crate_bytes (
    block INTEGER PRIMARY KEY, scores BLOB NOT NULL, states BLOB NOT NULL)`,
    `CREATE TABLE shelves (
    term_id INTEGER NOT NULL, shelf INTEGER NOT NULL, crates INTEGER NOT NULL,
    PRIMARY KEY (term_id, shelf)) WITHOUT ROWID`,
  ]),
  // What all daemons of a server count together. Nobody misses it after a crash, so it waits for no
  // disk. A bucket is `level` tokens at the time `at`. The clocks of daemons differ: where one is
  // ahead of another by less than a minute, nobody gets more tokens for it.
  '024_rate_limits': onServer([
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
  ]),
  // What programs that do not know all steps have to know: one row.
  '025_schema_record': statements([
    `CREATE TABLE schema_record (newest TEXT NOT NULL, oldest TEXT NOT NULL)`,
  ]),
  // By what searches find a crate is changed after the answer.
  '026_found': statements([
    `ALTER TABLE listings ADD COLUMN found_id INTEGER`,
    `ALTER TABLE listings ADD COLUMN found_yanked INTEGER NOT NULL DEFAULT 0`,
  ]),
  // A number that grows when searches find a crate by something else.
  '027_search_version': statements([
    `INSERT INTO counts (what, n) VALUES ('search', 0)`,
    `CREATE TRIGGER listings_found AFTER UPDATE OF found_id, found_yanked, step ON listings
    BEGIN UPDATE counts SET n = n + 1 WHERE what = 'search'; END`,
  ]),
  // Moves pause the registry, which every program has to know; tables and triggers of theirs go.
  '028_pause': { up: dropOldMoves, oldest: '028_pause' },
  // Images of other hosts are not copied; those of packages are files beside their version.
  '029_no_image_copies': contracts('029_no_image_copies', [
    `DROP TABLE image_uses`,
    `DROP TABLE images`,
    `DELETE FROM marks WHERE kind = 'unused'`,
  ]),
  // The highest version of each crate, which whoever lists crates has to keep.
  '030_max_version': { up: findHighest, oldest: '030_max_version' },
  // One engine searches rendered files; two tables have what they are rendered from.
  '031_one_search': { up: oneSearch, oldest: '031_one_search' },
}
