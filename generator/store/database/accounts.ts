/**
 * Second step of the schema: invitations to own a crate, logins in the browser, one-time links, who
 * was locked out.
 */
export const ACCOUNTS = [
  `CREATE TABLE invitations (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    invited_at TEXT NOT NULL, invited_by INTEGER REFERENCES users(id), PRIMARY KEY (crate_id,
    user_id)) WITHOUT ROWID`,
  `CREATE INDEX invitations_user ON invitations (user_id)`,
  `CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES users(id),
    hash TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL, created_at TEXT NOT NULL, last_seen_at TEXT NOT NULL,
    expires_at TEXT NOT NULL)`,
  `CREATE INDEX sessions_user ON sessions (user_id)`,
  `CREATE TABLE password_links (
    hash TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id),
    expires_at TEXT NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX password_links_user ON password_links (user_id)`,
  `ALTER TABLE users ADD COLUMN locked_at TEXT`,
  `ALTER TABLE audit ADD COLUMN address TEXT`,
  `CREATE INDEX audit_crate ON audit (crate)`,
  `CREATE INDEX audit_actor ON audit (actor)`,
]
