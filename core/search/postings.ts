/**
 * The crates that a term finds, in a part for each fit, separated by commas: the fit, the lowest id
 * of such a crate, and the differences to the next ids, all in digits of five bits, the lowest
 * first. With gzip, files are a sixth smaller than with decimal numbers.
 */
export type Postings = string

/** Digits 0 to 31 end a number, the others do not. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const END = 32

const VALUES = new Uint8Array(128)
for (let at = 0; at < DIGITS.length; at++) VALUES[DIGITS.charCodeAt(at)] = at

/** Calls `work` with the id and the fit of each crate. */
export function eachPosting(postings: Postings, work: (id: number, fit: number) => void): void {
  let [fit, id, number, shift] = [-1, 0, 0, 0]
  for (let at = 0; at < postings.length; at++) {
    if (postings[at] === ',') {
      fit = -1
      id = 0
      continue
    }
    const digit = VALUES[postings.charCodeAt(at)] ?? 0
    number |= (digit % END) << shift
    shift += 5
    if (digit >= END) continue
    if (fit < 0) fit = number
    else {
      id += number
      work(id, fit)
    }
    number = 0
    shift = 0
  }
}

/** Returns the number of crates. */
export function crateCount(postings: Postings): number {
  let crates = 0
  eachPosting(postings, () => crates++)
  return crates
}

/** Returns postings in which some crates, by their ids, have another fit, or null for none. */
export function changePostings(
  before: Postings,
  changes: ReadonlyMap<number, number | null>,
): Postings {
  const fits: number[][] = []
  const put = (id: number, fit: number) => {
    fits[fit] ??= []
    fits[fit].push(id)
  }
  eachPosting(before, (id, fit) => changes.has(id) || put(id, fit))
  for (const [id, fit] of changes) if (fit !== null) put(id, fit)
  return fits.flatMap((ids, fit) => digitsOf(fit) + packed(ids.sort((a, b) => a - b))).join(',')
}

function packed(ids: readonly number[]): string {
  let last = 0
  let text = ''
  for (const id of ids) {
    text += digitsOf(id - last)
    last = id
  }
  return text
}

function digitsOf(number: number): string {
  let text = ''
  let rest = number
  for (; rest >= END; rest >>= 5) text += DIGITS.charAt(END + (rest % END))
  return text + DIGITS.charAt(rest)
}
