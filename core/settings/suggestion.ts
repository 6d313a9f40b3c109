/** Longest text for which a suggestion is made. */
const LONGEST = 64

/** The candidate within a few typos of `text`, not counting the common `start`; null if none is. */
export function nearest(text: string, candidates: readonly string[], start = ''): string | null {
  if (text.length > LONGEST) return null
  let best: string | null = null
  let bound = Math.min(3, Math.max(1, Math.floor((text.length - start.length) / 3))) + 1
  for (const candidate of candidates) {
    const slips = distance(text.toLowerCase(), candidate.toLowerCase())
    if (slips < bound) {
      bound = slips
      best = candidate
    }
  }
  return best
}

/** Levenshtein distance: letters to change, drop or add. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(change, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
