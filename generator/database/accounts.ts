/** Second step of the schema: invitations to own a crate, logins in the browser. */
export const ACCOUNTS = [
  `CREATE TABLE invitations (
    crate_id INTEGER NOT NULL REFERENCES crates(id), user_id INTEGER NOT NULL REFERENCES users(id),
    invited_at TEXT NOT NULL, invited_by INTEGER REFERENCES users(id), PRIMARY KEY (crate_id, user_id)) WITHOUT ROWID`,
  `CREATE INDEX invitations_user ON invitations (user_id)`,
]
