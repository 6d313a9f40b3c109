import { Random } from './random.ts'
import type { SearchedCrate } from './whole-search.ts'

/** Queries of every kind that find something in these crates, and some that find nothing. */
export function inventedQueries(
  entries: readonly SearchedCrate[],
  count: number,
  seed = 3,
): string[] {
  const random = new Random(seed)
  const entry = (): SearchedCrate => random.pick(entries)
  const nameWord = () => random.pick(entry().name.split(/[-_]/))
  const textWord = () => random.pick((entry().about.description ?? 'x').split(' '))
  const part = (text: string) => text.slice(0, 1 + random.below(text.length))
  const joins = [' ', '+', '-', '_', '  ', '+ ']
  const kinds: (() => string)[] = [
    () => entry().name,
    () => part(entry().name),
    () => part(nameWord()),
    nameWord,
    textWord,
    () => entry().about.keywords[0] ?? 'none',
    () => entry().name.toUpperCase().replaceAll('_', '-'),
    () => nameWord() + random.pick(joins) + nameWord(),
    () => nameWord() + random.pick(joins) + part(nameWord()),
    () => textWord() + random.pick(joins) + textWord(),
    () => nameWord() + random.pick(joins) + textWord(),
    () => entry().name.split(/[-_]/).toReversed().join(random.pick(joins)),
    () => `${part(entry().name)}${random.pick(joins)}`,
    () => part(nameWord()).slice(0, 1) + random.pick(joins) + part(nameWord()).slice(0, 1),
    () => [textWord(), textWord(), nameWord()].join(' '),
    () => `${nameWord()} ${nameWord()} nowhere`,
    () => `(${textWord()}), “${nameWord()}”!`,
  ]
  return Array.from({ length: count }, () => random.pick(kinds)())
}
