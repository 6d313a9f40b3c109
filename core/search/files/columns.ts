import { type Ranked, rankOf } from '../rank.ts'
import { rustMinor } from '../request.ts'

/**
 * What is known of every crate of a shard, as a text with a character for each: its rank, and the
 * minor version of the Rust that it needs. 0 stands for no crate, or nothing said.
 */
export const COLUMNS = ['ranks', 'rust'] as const
export type Column = (typeof COLUMNS)[number]

/** The code of the character for 0; that of a number is as much higher. */
const ZERO = 35

/** Returns what the columns say of a crate; `rust`: the version that its newest one needs. */
export function columnsOf(
  crate: Ranked & { readonly rust: string | null },
): Record<Column, number> {
  const minor = rustMinor(crate.rust)
  return { ranks: rankOf(crate), rust: minor === null ? 0 : minor + 1 }
}

/**
 * Returns a column in which some crates, by their places, have other numbers. It ends with the last
 * crate of which something is known; '' knows nothing.
 */
export function changeColumn(column: string, changes: ReadonlyMap<number, number>): string {
  const letters = Array.from(column)
  for (const [place, number] of changes) {
    while (letters.length <= place) letters.push(String.fromCharCode(ZERO))
    letters[place] = String.fromCharCode(ZERO + number)
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
