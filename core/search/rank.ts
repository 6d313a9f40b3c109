/** The highest step of dependents. */
const STEP_MAX = 17

/** Names with at most so many characters come before longer ones. */
const LENGTHS = [3, 7, 10, 14]

/** Number of ranks of crates with an unyanked version; as many follow for the others. */
const RANKS = (STEP_MAX + 1) * (LENGTHS.length + 1)

/** Returns the step of a number of dependents: one more each time that they have doubled. */
export function stepOf(dependents: number): number {
  return Math.min(STEP_MAX, 32 - Math.clz32(dependents))
}

/** What the rank of a crate depends on. */
export interface Ranked {
  readonly canonical: string
  readonly dependents: number
  readonly yanked: boolean
}

/**
 * Returns the rank of a crate, 1 to 180: the step of its dependents counts most, then its shorter
 * name. 0 stands for no crate. Crates whose versions are all yanked have ranks above the others.
 */
export function rankOf({ canonical, dependents, yanked }: Ranked): number {
  const short = LENGTHS.filter(most => canonical.length <= most).length
  return 1 + (yanked ? RANKS : 0) + stepOf(dependents) * (LENGTHS.length + 1) + short
}

/** Whether a rank is that of a crate whose versions are all yanked. */
export function isYanked(rank: number): boolean {
  return rank > RANKS
}

/** Returns how many of 89 steps a crate comes after the highest rank. */
export function behind(rank: number): number {
  return (2 * RANKS - rank) % RANKS
}
