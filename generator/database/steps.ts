import { isOnServer } from './engine.ts'
import { all, column, type Queries, run, upsert, value } from './statement.ts'
import { contracts, firstStep, type Step, statements } from './step.ts'

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
async function dropOldMoves(db: Queries): Promise<void> {
  for (const name of await column<string>(db, isOnServer(db) ? FUNCTIONS : TRIGGERS))
    await dropTrigger(db, name)
  await run(db, 'DROP TABLE IF EXISTS changed_rows')
  const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'moves'"
  if ((await value(db, table)) === null) return
  const moves = await all<OldMove>(db, 'SELECT id, side, place, ended_at FROM moves')
  await run(db, 'DROP TABLE moves')
  for (const { id, side, place, ended_at: at } of moves) {
    const [key, move] = side === 'coming' ? ['copy', { id, place }] : ['moved', { id, place, at }]
    if (side === 'leaving' && at === null) continue
    await upsert(db, 'facts', ['key'], { key, value: JSON.stringify(move) })
  }
}

/** On a server a trigger goes with its function. */
async function dropTrigger(db: Queries, name: string): Promise<void> {
  const what = isOnServer(db) ? `FUNCTION IF EXISTS ${name} CASCADE` : `TRIGGER IF EXISTS ${name}`
  await run(db, `DROP ${what}`)
}

const TRIGGERS = `SELECT name FROM sqlite_master
  WHERE type = 'trigger' AND substr(name, 1, 8) = 'changed_'`
const FUNCTIONS = `SELECT proname AS name FROM pg_proc
  WHERE pronamespace = CAST(current_schema() AS regnamespace)
    AND substr(proname, 1, 8) = 'changed_'`

/**
 * Replaces the five tables of the earlier search by the two that its files are rendered from, and
 * marks all crates to be derived. Nothing else reads the steps of dependents any more.
 */
async function oneSearch(db: Queries): Promise<void> {
  for (const name of ['terms_more', 'terms_fewer', 'listings_found', 'listings_weight'])
    await dropTrigger(db, name)
  for (const table of ['shelves', 'blocks', 'crate_bytes', 'postings', 'terms'])
    await run(db, `DROP TABLE IF EXISTS ${table}`)
  for (const column of ['found_id', 'found_yanked', 'step'])
    await run(db, `ALTER TABLE listings DROP COLUMN ${column}`)
  await statements(SEARCH_TABLES).up(db)
}

const SEARCH_TABLES = [
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

async function dropCounts(db: Queries): Promise<void> {
  for (const name of ['releases_week', 'crates_week', 'crates'])
    for (const end of ['more', 'fewer']) await dropTrigger(db, `${name}_${end}`)
  await run(db, 'DROP TABLE IF EXISTS weeks')
  await run(db, "DELETE FROM counts WHERE what = 'crates'")
}

/** The steps in order. Published ones never change; new ones expand, or say `contracts`. */
export const steps: Readonly<Record<string, Step>> = {
  '026_found': firstStep,
  '027_search_version': statements(["INSERT INTO counts (what, n) VALUES ('search', 0)"]),
  // Moves pause the registry, which every program has to know; tables and triggers of theirs go.
  '028_pause': { up: dropOldMoves, oldest: '028_pause' },
  // Images of other hosts are not copied; those of packages are files beside their version.
  '029_no_image_copies': contracts('029_no_image_copies', [
    'DROP TABLE IF EXISTS image_uses',
    'DROP TABLE IF EXISTS images',
    "DELETE FROM marks WHERE kind = 'unused'",
  ]),
  // The highest version of each crate, which every program that lists crates has to keep. All lists
  // are derived again after it, as they had a format before 10.
  '030_max_version': contracts('030_max_version', [
    'ALTER TABLE listings ADD COLUMN max_id INTEGER',
  ]),
  // One engine searches rendered files; two tables have what they are rendered from.
  '031_one_search': { up: oneSearch, oldest: '031_one_search' },
  // READMEs that are shown as plain text are stored values; the next rendering records them again.
  '032_plain_pages': contracts('032_plain_pages', [
    'DROP TABLE IF EXISTS plain_pages',
    'DROP INDEX IF EXISTS releases_uncounted',
  ]),
  // Versions of upstreams that are exempted from the hold.
  '033_upstream': statements([
    `CREATE TABLE upstream_allowed (
      upstream TEXT NOT NULL, crate TEXT NOT NULL, version TEXT NOT NULL, at TEXT NOT NULL,
      actor TEXT NOT NULL, PRIMARY KEY (upstream, crate, version)) WITHOUT ROWID`,
  ]),
  // Users who were removed or renamed, what they have published, and why versions were deleted.
  '034_removed': statements([
    'ALTER TABLE tombstones ADD COLUMN reason TEXT',
    'ALTER TABLE users ADD COLUMN removed_at TEXT',
    `CREATE TABLE former_logins (
      canonical TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id)) WITHOUT ROWID`,
    'CREATE INDEX former_logins_user ON former_logins (user_id)',
    `CREATE INDEX releases_publisher ON releases (published_by)
      WHERE published_by IS NOT NULL`,
  ]),
  // Crates, and what is new in a week, are counted by indexes when somebody asks.
  '035_weeks': { up: dropCounts, oldest: '035_weeks' },
  // Rules of CI identities, their tokens, and which job has published a version.
  '036_trust': statements([
    'ALTER TABLE releases ADD COLUMN job TEXT',
    'ALTER TABLE crates ADD COLUMN rule_id INTEGER',
    'CREATE INDEX crates_rules ON crates (rule_id, created_at) WHERE rule_id IS NOT NULL',
    `CREATE TABLE trust_rules (
      id INTEGER PRIMARY KEY AUTOINCREMENT, issuer TEXT NOT NULL, name TEXT NOT NULL,
      pattern TEXT NOT NULL, crate_id INTEGER REFERENCES crates(id), claims TEXT NOT NULL,
      pins TEXT NOT NULL, owner_id INTEGER REFERENCES users(id),
      created_by INTEGER REFERENCES users(id), created_at TEXT NOT NULL, used_at TEXT)`,
    'CREATE INDEX trust_rules_pattern ON trust_rules (pattern)',
    'CREATE INDEX trust_rules_crate ON trust_rules (crate_id)',
    `CREATE TABLE trust_keys (
      issuer TEXT NOT NULL, key TEXT NOT NULL, rule_id INTEGER NOT NULL REFERENCES trust_rules(id),
      PRIMARY KEY (issuer, key, rule_id)) WITHOUT ROWID`,
    'CREATE INDEX trust_keys_rule ON trust_keys (rule_id)',
    `CREATE TABLE trust_tokens (
      id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, rules TEXT NOT NULL,
      job TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT NOT NULL)`,
    'CREATE INDEX trust_tokens_expiry ON trust_tokens (expires_at)',
    `CREATE TABLE trust_used (
      issuer TEXT NOT NULL, token TEXT NOT NULL, ends_at TEXT NOT NULL,
      PRIMARY KEY (issuer, token)) WITHOUT ROWID`,
    'CREATE INDEX trust_used_end ON trust_used (ends_at)',
    `CREATE TABLE trust_only (
      pattern TEXT PRIMARY KEY, is_prefix INTEGER NOT NULL) WITHOUT ROWID`,
    'CREATE INDEX trust_only_prefix ON trust_only (pattern) WHERE is_prefix = 1',
  ]),
  // Accounts of issuers, the groups of users, groups as owners, and how sessions were begun.
  '037_identities': statements([
    `CREATE TABLE identities (
      issuer TEXT NOT NULL, subject TEXT NOT NULL,
      user_id INTEGER NOT NULL REFERENCES users(id),
      linked_at TEXT NOT NULL, logged_in_at TEXT, PRIMARY KEY (issuer, subject)) WITHOUT ROWID`,
    'CREATE INDEX identities_user ON identities (user_id)',
    `CREATE TABLE user_groups (
      user_id INTEGER NOT NULL REFERENCES users(id), issuer TEXT NOT NULL,
      names TEXT NOT NULL, until TEXT NOT NULL, PRIMARY KEY (user_id, issuer)) WITHOUT ROWID`,
    `CREATE TABLE groups (
      id INTEGER PRIMARY KEY, issuer TEXT NOT NULL, name TEXT NOT NULL,
      section TEXT NOT NULL, title TEXT, UNIQUE (issuer, name))`,
    `CREATE TABLE group_owners (
      crate_id INTEGER NOT NULL REFERENCES crates(id),
      group_id INTEGER NOT NULL REFERENCES groups(id),
      added_at TEXT NOT NULL, added_by INTEGER REFERENCES users(id),
      PRIMARY KEY (crate_id, group_id)) WITHOUT ROWID`,
    'CREATE INDEX group_owners_group ON group_owners (group_id)',
    'ALTER TABLE sessions ADD COLUMN way TEXT',
    'ALTER TABLE users ADD COLUMN machine INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE users ADD COLUMN made_by INTEGER',
    'ALTER TABLE password_links ADD COLUMN made_by INTEGER',
  ]),
  // Why versions were yanked, what is deprecated, and what webhooks are still to tell.
  '038_events': statements([
    'ALTER TABLE releases ADD COLUMN yank_reason TEXT',
    'CREATE INDEX releases_yanked ON releases (crate_id) WHERE yanked = 1',
    `CREATE TABLE deprecations (
      crate_id INTEGER NOT NULL REFERENCES crates(id), requirement TEXT NOT NULL,
      reason TEXT NOT NULL, successor TEXT, at TEXT NOT NULL,
      PRIMARY KEY (crate_id, requirement)) WITHOUT ROWID`,
    `CREATE TABLE webhooks (
      name TEXT PRIMARY KEY, target TEXT NOT NULL, events TEXT NOT NULL,
      ended_at TEXT) WITHOUT ROWID`,
    `CREATE TABLE deliveries (
      id INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, message TEXT NOT NULL,
      type TEXT NOT NULL, crate_id INTEGER, generation INTEGER NOT NULL, data TEXT NOT NULL,
      at TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due_at TEXT, result TEXT)`,
    'CREATE INDEX deliveries_due ON deliveries (webhook, due_at) WHERE due_at IS NOT NULL',
    'CREATE INDEX deliveries_done ON deliveries (at) WHERE due_at IS NULL',
  ]),
  // Known holes, and the crates that they are about, by name.
  '039_advisories': statements([
    `CREATE TABLE advisories (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,
      content TEXT NOT NULL, sum TEXT NOT NULL)`,
    `CREATE TABLE advisory_crates (
      crate TEXT NOT NULL, advisory_id INTEGER NOT NULL REFERENCES advisories(id),
      PRIMARY KEY (crate, advisory_id)) WITHOUT ROWID`,
    'CREATE INDEX advisory_crates_advisory ON advisory_crates (advisory_id)',
  ]),
  // Which versions require each crate; derived soon after each change.
  '040_requirements': statements([
    `CREATE TABLE requirements (
      place INTEGER NOT NULL, dependency TEXT NOT NULL, crate_id INTEGER NOT NULL,
      text TEXT NOT NULL, PRIMARY KEY (place, dependency, crate_id)) WITHOUT ROWID`,
    'CREATE INDEX requirements_crate ON requirements (crate_id)',
  ]),
  // What versions ship with: the packages of their lock files. Not known of those published before.
  '041_locked': statements(['ALTER TABLE releases ADD COLUMN locked TEXT']),
  // Rules whose crates belong to a group.
  '042_rule_groups': statements([
    'ALTER TABLE trust_rules ADD COLUMN owner_group INTEGER REFERENCES groups(id)',
  ]),
}
