import { quantile } from '../../test/support/measure.ts'
import { type Program, spent } from './program.ts'
import { publishAll, publishBody } from './publishing.ts'
import type { Measurement } from './table.ts'

const SIZE = 10_000
const ROUNDS = 8
const PUBLISHES = 20

/** Publishes of one kind, one after the other. */
export interface Kind {
  readonly daemon: Program
  readonly token: string
  /** The crate and version of a publish. */
  readonly next: (number: number) => readonly [name: string, version: string]
  readonly times: number[]
  readonly untilAnswer: number[]
  readonly untilQuiet: number[]
}

/** Returns a kind that nothing was measured of yet. */
export function kindOf(at: Pick<Kind, 'daemon' | 'token'>, next: Kind['next']): Kind {
  return { ...at, next, times: [], untilAnswer: [], untilQuiet: [] }
}

/** Measures kinds in rounds in which they take turns; the first round only warms up. */
export async function measureRounds(kinds: readonly Kind[]): Promise<void> {
  for (let round = -1; round < ROUNDS; round++) for (const kind of kinds) await measure(kind, round)
}

async function measure({ daemon, token, next, ...kind }: Kind, round: number): Promise<void> {
  const bodies = Array.from({ length: PUBLISHES }, (_, at) => {
    const [name, version] = next((round + 1) * PUBLISHES + at)
    return publishBody(name, version, SIZE)
  })
  const before = daemon.usage()
  const done = await publishAll({ token, port: daemon.port }, bodies, 1)
  const answered = daemon.usage()
  await daemon.quiet()
  if (round < 0) return
  kind.times.push(...done.map(publish => publish.took))
  kind.untilAnswer.push(spent(before, answered) / PUBLISHES)
  kind.untilQuiet.push(spent(before, daemon.usage()) / PUBLISHES)
}

/**
 * Returns the cost of a kind relative to another, and whether it is at most `most` times as high.
 */
export function comparison(
  what: string,
  own: Kind,
  [name, other]: readonly [string, Kind],
  most: number,
): Measurement[] {
  const row = (key: 'times' | 'untilAnswer' | 'untilQuiet', words: string) => ({
    what: `${what}: ${words}`,
    value: quantile(own[key], 0.5),
    unit: 'ms',
    yardstick: { name, value: quantile(other[key], 0.5) },
  })
  return [
    { ...row('times', 'median'), goal: { atMost: most } },
    { ...row('untilAnswer', 'processor time until the answer'), goal: { atMost: most } },
    row('untilQuiet', 'processor time until all is quiet'),
  ]
}
