/**
 * A publish in registries of 10 crates and of 200,000, and of a crate with 999 versions and with
 * none: its cost must hardly grow. They take turns, so that other work on the machine slows all of
 * them down alike. `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { Contender, type Outcome } from './support/contender.ts'
import { filledRegistry } from './support/filled-registry.ts'
import type { Program } from './support/program.ts'
import { publishAll, publishBody } from './support/publishing.ts'
import { bench, type Servers } from './support/servers.ts'
import { type Goal, type Measurement, measured } from './support/table.ts'

const FEW = 10
const MANY = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const VERSIONS = 999
const SIZE = 10_000
const ROUNDS = 8
const PUBLISHES = 20

interface Served {
  readonly daemon: Program
  readonly token: string
}

await bench(async servers => {
  const [few, many] = [await start(servers, FEW), await start(servers, MANY)]
  const versions = Array.from({ length: VERSIONS }, (_, at) =>
    publishBody('thousand', `0.1.${at}`, 1000),
  )
  // Both: V8 needs some hundred publishes to compile the hot code.
  for (const { daemon, token } of [few, many]) {
    await publishAll({ token, port: daemon.port }, versions, 4)
    await daemon.quiet()
  }
  const crate = (number: number) => [`bench-${number}`, '1.0.0'] as const
  const kinds = {
    few: kindOf(few, crate),
    many: kindOf(many, crate),
    first: kindOf(few, number => [`first-${number}`, '1.0.0']),
    thousandth: kindOf(few, number => ['thousand', `1.0.${number}`]),
  }
  for (const kind of Object.values(kinds)) await kind.warm(1, PUBLISHES)
  for (let round = 0; round < ROUNDS; round++)
    for (const kind of Object.values(kinds)) await kind.measure(1, PUBLISHES)
  const among = `among ${MANY.toLocaleString('en-US')} crates`
  return [
    ...comparison(among, kinds.many, [`among ${FEW}`, kinds.few], 1.2),
    ...comparison('version 1,000 of a crate', kinds.thousandth, ['version 1', kinds.first], 2),
  ]
})

/** A daemon on a copy of a registry. */
async function start(servers: Servers, size: number): Promise<Served> {
  const { dir, token } = await filledRegistry(size)
  const copy = join(servers.folder, String(size))
  cpSync(dir, copy, { recursive: true })
  const daemon = await servers.daemon(copy)
  await daemon.quiet()
  return { daemon, token }
}

/** A registry that gets publishes of one kind; `next` is the crate and version of each. */
function kindOf(
  { daemon, token }: Served,
  next: (number: number) => readonly [name: string, version: string],
): Contender {
  const bodies = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => publishBody(...next(from + at), SIZE))
  return new Contender([daemon], { token }, bodies)
}

/** A kind's cost next to another's, and whether it is at most `most` times that. */
function comparison(
  what: string,
  own: Contender,
  [name, other]: readonly [string, Contender],
  most: number,
): Measurement[] {
  const row = (key: keyof Outcome, words: string, goal: Goal = {}) => {
    const yardstick = { name, value: other.value(1, key) }
    return measured(`${what}: ${words}`, own.value(1, key), 'ms', goal, yardstick)
  }
  return [
    row('times', 'median', { atMost: most }),
    row('untilAnswer', 'processor time until the answer', { atMost: most }),
    row('untilQuiet', 'processor time until all is quiet'),
  ]
}
