/** The path at which Cargo looks for a crate's index file, below the root of an index. */
export function pathOf(name: string): string {
  const lower = name.toLowerCase()
  if (lower.length <= 2) return `${lower.length}/${lower}`
  if (lower.length === 3) return `3/${lower[0]}/${lower}`
  return `${lower.slice(0, 2)}/${lower.slice(2, 4)}/${lower}`
}
