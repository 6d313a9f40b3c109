/** Further step of the schema: by which hash the browser's search finds a term, and how many terms there are. */
export const TERM_HASHES = [
  `ALTER TABLE terms ADD COLUMN hash INTEGER NOT NULL DEFAULT -1`,
  `CREATE INDEX terms_hash ON terms (hash)`,
  `INSERT INTO counts (what, n) SELECT 'terms', count(*) FROM terms`,
  `CREATE TRIGGER terms_more AFTER INSERT ON terms BEGIN UPDATE counts SET n = n + 1 WHERE what = 'terms'; END`,
  `CREATE TRIGGER terms_fewer AFTER DELETE ON terms BEGIN UPDATE counts SET n = n - 1 WHERE what = 'terms'; END`,
]
