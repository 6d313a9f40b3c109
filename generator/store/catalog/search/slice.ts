/** A part of a list, and how long the whole is. */
export interface Slice {
  readonly limit: number
  readonly offset: number
}

/** Crates found, best first: their ids, and how many there are on all pages. */
export interface FoundCrates {
  readonly ids: readonly number[]
  readonly total: number
}
