/**
 * The crates of a shard that a term finds: for each fit, the fit, then the lowest place of such a
 * crate in the shard, and the differences to the next ones.
 */
export type Postings = readonly (readonly number[])[]

/** Calls `work` with the place and the fit of each crate. */
export function eachPosting(postings: Postings, work: (place: number, fit: number) => void): void {
  for (const group of postings) {
    let place = 0
    for (let at = 1; at < group.length; at++) {
      place += group[at] ?? 0
      work(place, group[0] ?? 0)
    }
  }
}

/** Returns the number of crates. */
export function crateCount(postings: Postings): number {
  return postings.reduce((sum, group) => sum + group.length - 1, 0)
}

/** Returns postings in which some crates, by their places, have another fit, or null for none. */
export function changePostings(
  before: Postings,
  changes: ReadonlyMap<number, number | null>,
): Postings {
  const places = new Map<number, number[]>()
  const put = (place: number, fit: number) => {
    const group = places.get(fit)
    if (group) group.push(place)
    else places.set(fit, [place])
  }
  eachPosting(before, (place, fit) => changes.has(place) || put(place, fit))
  for (const [place, fit] of changes) if (fit !== null) put(place, fit)
  return [...places.keys()].sort((a, b) => a - b).map(fit => [fit, ...steps(places.get(fit) ?? [])])
}

/** Returns the lowest of some places, and the differences to the next ones. */
function steps(places: readonly number[]): Uint16Array {
  const sorted = Uint16Array.from(places).sort()
  for (let at = sorted.length - 1; at > 0; at--)
    sorted[at] = (sorted[at] ?? 0) - (sorted[at - 1] ?? 0)
  return sorted
}
