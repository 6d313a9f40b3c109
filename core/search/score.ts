import { RANK_FIT } from './words.ts'

/** The highest step of dependents. */
const STEP_MAX = 17

/** Names with at most so many characters come before longer ones. */
const LENGTHS = [3, 5, 7, 10, 14, 20]
const LENGTH_STEPS = LENGTHS.length + 1

/** Returns the step of a number of dependents: one more each time that they have about doubled. */
export function stepOf(dependents: number): number {
  // Up to here, the text has all digits.
  return dependents > 333_333 ? STEP_MAX : String(27 * dependents ** 3).length - 1
}

/**
 * Returns the score of a crate, 0 to 125: more dependents first, then the shorter name, both in
 * steps. All ranks of a crate have it, so it may change only rarely.
 */
export function scoreOf(step: number, nameLength: number): number {
  return (STEP_MAX - step) * LENGTH_STEPS + LENGTHS.filter(most => nameLength > most).length
}

/** The last of the tiers of scores: crates without dependents. */
const LAST_TIER = 5

/** Number of ids in a shelf of the last tier; in better ones, which fewer crates reach, it is more. */
const SHELF_IDS = 8192

/** Number of shelves of a tier. */
const SHELVES = 4096

/** All shelves have lower numbers. */
export const SHELF_LIMIT = (LAST_TIER + 1) * SHELVES

/**
 * Returns the shelf of a crate with a rank. A common term is spread over shelves, lists of crates
 * with similar scores and adjacent ids. Lower numbers are better scores.
 */
export function shelfOf(id: number, rank: number): number {
  const step = STEP_MAX - Math.floor((rank % RANK_FIT) / LENGTH_STEPS)
  const tier = Math.max(0, LAST_TIER - Math.ceil(step / 2))
  return tier * SHELVES + Math.floor(id / widthOf(tier))
}

/** Returns the scores and ids of a shelf: from the first, to before the second. */
export function insideOf(shelf: number): { scores: [number, number]; ids: [number, number] } {
  const tier = Math.floor(shelf / SHELVES)
  const [from, width] = [shelf % SHELVES, widthOf(tier)]
  const end = tier === LAST_TIER ? RANK_FIT : firstScore(tier + 1)
  return { scores: [firstScore(tier), end], ids: [from * width, (from + 1) * width] }
}

/** A tier has two steps; the first one has all that are higher, and the last one only the lowest. */
function firstScore(tier: number): number {
  return tier === 0 ? 0 : (STEP_MAX - 2 * (LAST_TIER - tier)) * LENGTH_STEPS
}

function widthOf(tier: number): number {
  return SHELF_IDS * 4 ** (LAST_TIER - tier)
}
