import { all, first, type Queries, type Row, upsert } from '../../database/statement.ts'
import { BLOCK_CRATES, placeOf } from './bitmaps.ts'

/** What a search knows of each crate without reading its records. */
export interface CrateBytes {
  /** The score of each crate (`core/search/score.ts`), by crate id. */
  readonly scores: Uint8Array
  /** `stateOf` each crate, by crate id; 0 when it is in no list. */
  readonly states: Uint8Array
}

/** The bit of a state that says that all versions are yanked. */
const YANKED = 128

/** Returns the state of a listed crate; `rust` is a result of `rustMinor`. */
export function stateOf(isYanked: boolean, rust: number | null): number {
  return (isYanked ? YANKED : 0) + (rust === null ? 1 : rust + 2)
}

/** Whether a state is of a crate whose versions are all yanked. */
export function isYankedState(state: number): boolean {
  return state >= YANKED
}

/** Whether a state is of a crate that says to need a later Rust than a minor version. */
export function needsLaterRust(state: number, minor: number): boolean {
  return state % YANKED > minor + 2
}

/** Stores the score and the state of a crate. */
export async function keepCrateBytes(
  tx: Queries,
  crateId: number,
  score: number,
  state: number,
): Promise<void> {
  const { block, place } = placeOf(crateId)
  const text = 'SELECT block, scores, states FROM crate_bytes WHERE block = ?'
  const old = await first<Row<'crate_bytes'>>(tx, text, block)
  const scores = old ? new Uint8Array(old.scores) : new Uint8Array(BLOCK_CRATES)
  const states = old ? new Uint8Array(old.states) : new Uint8Array(BLOCK_CRATES)
  if (scores[place] === score && states[place] === state) return
  scores[place] = score
  states[place] = state
  await upsert(tx, 'crate_bytes', ['block'], { block, scores, states })
}

/** Reads the bytes of all crates: some kilobytes for each thousand. */
export async function readCrateBytes(db: Queries): Promise<CrateBytes> {
  const rows = await all<Row<'crate_bytes'>>(
    db,
    'SELECT block, scores, states FROM crate_bytes ORDER BY block',
  )
  const size = ((rows.at(-1)?.block ?? -1) + 1) * BLOCK_CRATES
  const [scores, states] = [new Uint8Array(size), new Uint8Array(size)]
  for (const row of rows) {
    scores.set(new Uint8Array(row.scores), row.block * BLOCK_CRATES)
    states.set(new Uint8Array(row.states), row.block * BLOCK_CRATES)
  }
  return { scores, states }
}
