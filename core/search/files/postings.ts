/**
 * The crates of a shard that a term finds, in a part for each fit: its digit, then the lowest place
 * of such a crate in the shard, and the differences to the next places, each in digits of five
 * bits, the lowest first. Parts are separated by commas. With gzip, files are a sixth smaller than
 * with decimal numbers.
 */
export type Postings = string

/** Digits 0 to 31 end a number, the others do not. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const END = 32

const VALUES = new Uint8Array(128)
for (let at = 0; at < DIGITS.length; at++) VALUES[DIGITS.charCodeAt(at)] = at

/** Calls `work` with the place and the fit of each crate. */
export function eachPosting(postings: Postings, work: (place: number, fit: number) => void): void {
  for (let at = 0; at < postings.length; at++) {
    const fit = VALUES[postings.charCodeAt(at++)] ?? 0
    let place = 0
    let step = 0
    let shift = 0
    for (; at < postings.length && postings[at] !== ','; at++) {
      const digit = VALUES[postings.charCodeAt(at)] ?? 0
      step |= (digit % END) << shift
      shift += 5
      if (digit >= END) continue
      place += step
      work(place, fit)
      step = 0
      shift = 0
    }
  }
}

/** Returns the number of crates. */
export function crateCount(postings: Postings): number {
  let crates = 0
  eachPosting(postings, () => crates++)
  return crates
}

/** Returns postings in which some crates, by their places, have another fit, or null for none. */
export function changePostings(
  before: Postings,
  changes: ReadonlyMap<number, number | null>,
): Postings {
  const places = new Map<number, number[]>()
  const put = (place: number, fit: number) => {
    const some = places.get(fit)
    if (some) some.push(place)
    else places.set(fit, [place])
  }
  eachPosting(before, (place, fit) => changes.has(place) || put(place, fit))
  for (const [place, fit] of changes) if (fit !== null) put(place, fit)
  const fits = [...places].sort(([a], [b]) => a - b)
  return fits.map(([fit, some]) => DIGITS.charAt(fit) + packed(some)).join(',')
}

function packed(places: readonly number[]): string {
  let text = ''
  let last = 0
  for (const place of Uint16Array.from(places).sort()) {
    let rest = place - last
    for (; rest >= END; rest >>= 5) text += DIGITS.charAt(END + (rest % END))
    text += DIGITS.charAt(rest)
    last = place
  }
  return text
}
