import { rustMinor } from './request.ts'

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
}

/**
 * Returns the rank of a crate, 1 to 180: the step of its dependents counts most, then its shorter
 * name. 0 stands for no crate. Crates whose versions are all yanked rank above the others.
 */
export function rankOf({ canonical, dependents, yanked }: RankInfo): number {
  const short = LENGTHS.filter(most => canonical.length <= most).length
  return 1 + (yanked ? RANKS : 0) + stepOf(dependents) * (LENGTHS.length + 1) + short
}

/** Whether a crate of this rank has only yanked versions. */
export function isYanked(rank: number): boolean {
  return rank > RANKS
}

/** Returns how many of 89 steps a crate comes after the highest rank. */
export function behind(rank: number): number {
  return (2 * RANKS - rank) % RANKS
}

/**
 * The columns are texts with a character for each id. `ranks` has the crate's rank, `rust` the
 * minor version of the Rust it needs; 0 stands for no crate, or for unknown.
 */
export const COLUMNS = ['ranks', 'rust'] as const
export type Column = (typeof COLUMNS)[number]

/** The code of the character for 0; that for 1 follows, and so on. */
const ZERO = 35

/** Returns a crate's values by column; `rust`: the version that its newest version needs. */
export function columnsOf(
  crate: RankInfo & { readonly rust: string | null },
): Record<Column, number> {
  const minor = rustMinor(crate.rust)
  return { ranks: rankOf(crate), rust: minor === null ? 0 : minor + 1 }
}

/**
 * Returns a column with new numbers for some crates, by their ids. It ends with the last crate
 * whose number is known; '' is a column without any.
 */
export function changeColumn(column: string, changes: ReadonlyMap<number, number>): string {
  const letters = Array.from(column)
  for (const [id, number] of changes) {
    while (letters.length <= id) letters.push(String.fromCharCode(ZERO))
    letters[id] = String.fromCharCode(ZERO + number)
  }
  while (letters.at(-1) === String.fromCharCode(ZERO)) letters.pop()
  return letters.join('')
}

/** Returns the numbers of a column. */
export function numbersIn(column: string): Uint8Array {
  const numbers = new Uint8Array(column.length)
  for (let at = 0; at < column.length; at++) numbers[at] = column.charCodeAt(at) - ZERO
  return numbers
}
