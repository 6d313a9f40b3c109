const STEP_MAX = 17

/** The longest names of each class; shorter classes come first. */
const LENGTHS = [3, 7, 10, 14]

/** Number of ranks of crates with an unyanked version; the others' ranks follow, equally many. */
const RANKS = (STEP_MAX + 1) * (LENGTHS.length + 1)

/** Returns the step of a number of dependents: one more each time that they have doubled. */
export function stepOf(dependents: number): number {
  return Math.min(STEP_MAX, 32 - Math.clz32(dependents))
}

export interface RankInfo {
  readonly canonical: string
  readonly dependents: number
  readonly yanked: boolean
  readonly isDeprecated?: boolean
}

/**
 * Returns the rank of a crate, 1 to 180: the step of its dependents counts most, then its shorter
 * name. 0 stands for no crate, and the lowest is that of deprecated ones. Crates whose versions are
 * all yanked rank above the others.
 */
export function rankOf({ canonical, dependents, yanked, isDeprecated }: RankInfo): number {
  const short = LENGTHS.filter(most => canonical.length <= most).length
  const rank = 1 + stepOf(dependents) * (LENGTHS.length + 1) + short
  return (yanked ? RANKS : 0) + (isDeprecated ? 1 : Math.max(2, rank))
}

/** Whether a crate of this rank has only yanked versions. */
export function isYanked(rank: number): boolean {
  return rank > RANKS
}

/** Returns how many of 89 steps a crate comes after the highest rank. */
export function behind(rank: number): number {
  return (2 * RANKS - rank) % RANKS
}

/** The code of the character for 0; that for 1 follows, and so on. */
const ZERO = 35

/** Returns ranks as text with some changed: a character for each id up to the last crate's. */
export function changeRanks(before: string, changes: ReadonlyMap<number, number>): string {
  const letters = Array.from(before)
  for (const [id, rank] of changes) {
    while (rank > 0 && letters.length <= id) letters.push(String.fromCharCode(ZERO))
    if (id < letters.length) letters[id] = String.fromCharCode(ZERO + rank)
  }
  while (letters.at(-1) === String.fromCharCode(ZERO)) letters.pop()
  return letters.join('')
}

/** Returns the ranks in their text, by the ids of crates. */
export function ranksIn(text: string): Uint8Array {
  const ranks = new Uint8Array(text.length)
  for (let id = 0; id < text.length; id++) ranks[id] = text.charCodeAt(id) - ZERO
  return ranks
}
