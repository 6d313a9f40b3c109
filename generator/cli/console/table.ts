/** Returns the lines of a table with its head above aligned columns; none without rows. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return []
  const all = [head, ...rows]
  const width = (at: number) => all.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0)
  const widths = head.map((_, at) => width(at))
  return all.map(row =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
