/** Returns the statements that keep the number of a table's rows in `counts`. */
export function counted(table: string): string[] {
  return [
    `INSERT INTO counts (what, n) SELECT '${table}', count(*) FROM ${table}`,
    `CREATE TRIGGER ${table}_more AFTER INSERT ON ${table}
    BEGIN UPDATE counts SET n = n + 1 WHERE what = '${table}'; END`,
    `CREATE TRIGGER ${table}_fewer AFTER DELETE ON ${table}
    BEGIN UPDATE counts SET n = n - 1 WHERE what = '${table}'; END`,
  ]
}

/** Returns the statements that keep the number of a table's rows by week in `weeks`. */
export function weekly(table: 'releases' | 'crates', column: string): string[] {
  // Without the time: SQLite does not know leap seconds.
  const weekOf = (at: string) =>
    `CAST((julianday(substr(${at}, 1, 10)) - julianday('1970-01-05')) / 7 AS INTEGER)`
  const change = (at: string, by: 1 | -1) => `
    WHEN ${weekOf(at)} IS NOT NULL BEGIN
    INSERT INTO weeks (week, releases, crates) VALUES (${weekOf(at)}, 0, 0) ON CONFLICT DO NOTHING;
    UPDATE weeks SET ${table} = ${table} + ${by} WHERE week = ${weekOf(at)}; END`
  return [
    `INSERT INTO weeks (week, releases, crates)
    SELECT DISTINCT ${weekOf(column)}, 0, 0 FROM ${table}
    WHERE ${weekOf(column)} IS NOT NULL ON CONFLICT DO NOTHING`,
    `UPDATE weeks SET ${table} = found.n FROM
    (SELECT ${weekOf(column)} AS week, count(*) AS n FROM ${table} GROUP BY 1) AS found
    WHERE found.week = weeks.week`,
    `CREATE TRIGGER ${table}_week_more AFTER INSERT ON ${table}${change(`NEW.${column}`, 1)}`,
    `CREATE TRIGGER ${table}_week_fewer AFTER DELETE ON ${table}${change(`OLD.${column}`, -1)}`,
  ]
}
