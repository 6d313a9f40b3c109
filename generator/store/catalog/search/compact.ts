import type { Bits, Mask, Matches } from './crate-sets.ts'

/**
 * Bits are cut down to at most this part of their length. Of more crates, a page is full before
 * most classes are looked at.
 */
const PART = 1 / 8

/**
 * Cuts sets down to the words of bits that have any of some crates. A query that finds few crates
 * is ranked in such short sets; crates stay in the order of their ids.
 */
export class Compact {
  /** The words that are kept, ascending; null for all of them. */
  readonly #kept: Uint32Array | null

  constructor([unyanked, yanked]: Mask) {
    const [kept, most]: [number[], number] = [[], unyanked.length * PART]
    for (let at = 0; at < unyanked.length && kept.length <= most; at++)
      if (((unyanked[at] ?? 0) | (yanked[at] ?? 0)) !== 0) kept.push(at)
    this.#kept = kept.length > most ? null : Uint32Array.from(kept)
  }

  /** Returns what a query finds with all of its sets cut down. */
  matches(matches: Matches): Matches {
    const kept = this.#kept
    if (kept === null) return matches
    const cut = (bits: Bits) => {
      const own = new Uint32Array(kept.length)
      for (let at = 0; at < own.length; at++) own[at] = bits[kept[at] ?? 0] ?? 0
      return own
    }
    const both = ([unyanked, yanked]: Mask): Mask => [cut(unyanked), cut(yanked)]
    const { found, mask, matched, crates } = matches
    return {
      found: found.map(sets => sets.map(cut)),
      mask: mask && both(mask),
      matched,
      crates: both(crates),
    }
  }

  /** Returns the scores of the crates in the words that are kept. */
  scores(scores: Uint8Array): Uint8Array {
    if (this.#kept === null) return scores
    const kept = new Uint8Array(this.#kept.length * 32)
    for (const [to, at] of this.#kept.entries())
      kept.set(scores.subarray(at * 32, (at + 1) * 32), to * 32)
    return kept
  }

  /** Returns the places of some crates in sets that are cut down; some have none. */
  places(ids: readonly number[]): number[] {
    const kept = this.#kept
    if (kept === null) return [...ids]
    return ids.flatMap(id => {
      const word = kept.indexOf(id >>> 5)
      return word < 0 ? [] : [word * 32 + (id & 31)]
    })
  }

  /** Returns the crates at some places. */
  ids(places: readonly number[]): number[] {
    const kept = this.#kept
    if (kept === null) return [...places]
    return places.map(place => (kept[place >>> 5] ?? 0) * 32 + (place & 31))
  }
}
