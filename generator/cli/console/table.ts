/** Returns the lines of a table with its head above aligned columns; none without rows. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return []
  const all = [head, ...rows]
  const widths = head.map((_, at) => Math.max(...all.map(row => (row[at] ?? '').length)))
  return all.map(row =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
