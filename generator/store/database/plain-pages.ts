/** Further step of the schema: pages that took too much to render, so that nothing tries them again. */
export const PLAIN_PAGES = [
  `CREATE TABLE plain_pages (
    release_id INTEGER NOT NULL REFERENCES releases(id) ON DELETE CASCADE, what TEXT NOT NULL,
    format TEXT NOT NULL, because TEXT NOT NULL, detail TEXT,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    PRIMARY KEY (release_id, what)) WITHOUT ROWID`,
]
