import type { SearchedCrate } from './whole-search.ts'

/** A random number that is the same in every run. */
export function dice(seed: number): (sides: number) => number {
  let state = seed
  return sides => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return Math.floor((state / 2 ** 31) * sides)
  }
}

/** Queries of every kind that find something in these crates, and some that find nothing. */
export function inventedQueries(
  entries: readonly SearchedCrate[],
  count: number,
  seed = 3,
): string[] {
  const roll = dice(seed)
  const entry = (): SearchedCrate => entries[roll(entries.length)] as SearchedCrate
  const pick = <T>(list: readonly T[]): T => list[roll(list.length)] as T
  const nameWord = () => pick(entry().name.split(/[-_]/))
  const textWord = () => pick((entry().about.description ?? 'x').split(' '))
  const part = (text: string) => text.slice(0, 1 + roll(text.length))
  const joins = [' ', '+', '-', '_', '  ', '+ ']
  const kinds: (() => string)[] = [
    () => entry().name,
    () => part(entry().name),
    () => part(nameWord()),
    nameWord,
    textWord,
    () => pick(entry().about.keywords) ?? 'none',
    () => entry().name.toUpperCase().replaceAll('_', '-'),
    () => nameWord() + pick(joins) + nameWord(),
    () => nameWord() + pick(joins) + part(nameWord()),
    () => textWord() + pick(joins) + textWord(),
    () => nameWord() + pick(joins) + textWord(),
    () => entry().name.split(/[-_]/).toReversed().join(pick(joins)),
    () => `${part(entry().name)}${pick(joins)}`,
    () => part(nameWord()).slice(0, 1) + pick(joins) + part(nameWord()).slice(0, 1),
    () => [textWord(), textWord(), nameWord()].join(' '),
    () => `${nameWord()} ${nameWord()} nowhere`,
    () => `(${textWord()}), “${nameWord()}”!`,
  ]
  return Array.from({ length: count }, () => pick(kinds)())
}
