/** First step of the schema: releases and their owners, users, tokens, audit events, marks. */
export const REGISTRY = [
  `CREATE TABLE crates (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE,
    skeleton TEXT NOT NULL, created_at TEXT NOT NULL, generation INTEGER NOT NULL)`,
  `CREATE INDEX crates_skeleton ON crates (skeleton)`,
  `CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, login TEXT NOT NULL, canonical TEXT NOT NULL UNIQUE,
    name TEXT,
    admin INTEGER NOT NULL, password TEXT, created_at TEXT NOT NULL)`,
  `CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT, crate_id INTEGER NOT NULL REFERENCES crates(id),
    version TEXT NOT NULL,
    identity TEXT NOT NULL, cksum TEXT NOT NULL, size INTEGER NOT NULL, yanked INTEGER NOT NULL,
    line TEXT NOT NULL,
    about TEXT NOT NULL, readme TEXT, published_at TEXT, published_by INTEGER REFERENCES users(id),
    UNIQUE (crate_id, identity))`,
  `CREATE INDEX releases_cksum ON releases (cksum)`,
  `CREATE TABLE owners (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    added_at TEXT NOT NULL, added_by INTEGER REFERENCES users(id), PRIMARY KEY (crate_id,
    user_id)) WITHOUT ROWID`,
  `CREATE INDEX owners_user ON owners (user_id)`,
  `CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users(id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE, scopes TEXT, crates TEXT, created_at TEXT NOT NULL,
    expires_at TEXT, last_used_at TEXT,
    revoked_at TEXT)`,
  `CREATE INDEX tokens_user ON tokens (user_id)`,
  `CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, action TEXT NOT NULL,
    user_id INTEGER REFERENCES users(id),
    actor TEXT NOT NULL, token_id INTEGER REFERENCES tokens(id), crate TEXT, version TEXT,
    detail TEXT)`,
  `CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT,
    'audit events are kept'); END`,
  `CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT,
    'audit events are fixed'); END`,
  `CREATE TABLE marks (
    kind TEXT NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL, PRIMARY KEY (kind,
    subject)) WITHOUT ROWID`,
  `CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
]
