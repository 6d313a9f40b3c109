import { Contender, type Outcome } from './contender.ts'
import type { Program } from './program.ts'
import { publishBody } from './publishing.ts'
import type { Measurement } from './table.ts'

const SIZE = 10_000
const ROUNDS = 8
const PUBLISHES = 20

/** A registry that gets publishes of one kind; `next` is the crate and version of each. */
export function kindOf(
  { daemon, token }: { readonly daemon: Program; readonly token: string },
  next: (number: number) => readonly [name: string, version: string],
): Contender {
  const bodies = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => publishBody(...next(from + at), SIZE))
  return new Contender([daemon], { token }, bodies)
}

/** Measures kinds in rounds in which they take turns; the first round only warms up. */
export async function measureRounds(kinds: readonly Contender[]): Promise<void> {
  for (const kind of kinds) await kind.warm(1, PUBLISHES)
  for (let round = 0; round < ROUNDS; round++)
    for (const kind of kinds) await kind.measure(1, PUBLISHES)
}

/** Returns a kind's cost relative to another's, and whether it is at most `most` times that. */
export function comparison(
  what: string,
  own: Contender,
  [name, other]: readonly [string, Contender],
  most: number,
): Measurement[] {
  const row = (key: keyof Outcome, words: string) => ({
    what: `${what}: ${words}`,
    value: own.value(1, key),
    unit: 'ms',
    yardstick: { name, value: other.value(1, key) },
  })
  return [
    { ...row('times', 'median'), goal: { atMost: most } },
    { ...row('untilAnswer', 'processor time until the answer'), goal: { atMost: most } },
    row('untilQuiet', 'processor time until all is quiet'),
  ]
}
