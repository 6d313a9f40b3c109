import type { SearchedCrate } from './whole-search.ts'

const PARTS =
  'ser de jso n par se rust cli to kio asy nc http tp web ap i lib log ger fm t re gex sql db cache key map ve c str ing fast sim ple net io fs path ge macro der ive err or test mock bench time date rand om hash crypt o'.split(
    ' ',
  )

/** Invented crates, always the same, with words as unevenly common as real ones are. */
export function inventedEntries(count: number): SearchedCrate[] {
  let seed = 1
  const random = (below: number): number => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
  const words = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 1 + random(3) }, () => PARTS[random(PARTS.length)]).join(''),
  )
  const word = () => words[Math.floor(words.length * (random(100_000) / 100_000) ** 4)] ?? 'x'
  const between = (least: number, most: number) =>
    Array.from({ length: least + random(most - least) }, word)
  const entries = new Map<string, SearchedCrate>()
  while (entries.size < count) {
    const name = between(1, 4).join('-')
    const entry = {
      name,
      newest: `1.${random(40)}.0`,
      about: { description: between(6, 16).join(' '), keywords: between(0, 5) },
      yanked: random(50) === 0,
    }
    if (!entries.has(name)) entries.set(name, entry)
  }
  return [...entries.values()]
}
