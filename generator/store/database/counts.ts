/** Further step of the schema: how many crates and releases there are, so that telling it does not mean counting them. */
export const COUNTS = [
  `CREATE TABLE counts (what TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID`,
  ...['crates', 'releases'].flatMap(table => [
    `INSERT INTO counts (what, n) SELECT '${table}', count(*) FROM ${table}`,
    `CREATE TRIGGER ${table}_more AFTER INSERT ON ${table} BEGIN UPDATE counts SET n = n + 1 WHERE what = '${table}'; END`,
    `CREATE TRIGGER ${table}_fewer AFTER DELETE ON ${table} BEGIN UPDATE counts SET n = n - 1 WHERE what = '${table}'; END`,
  ]),
]
