/**
 * A publish in registries of 10 crates and of 200,000, and of a crate with 999 versions and with
 * none: what it costs must hardly grow. They take turns, so that whatever else the machine does
 * slows all of them down alike. `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filledRegistry } from './support/filled-registry.ts'
import { quantile } from './support/measure.ts'
import { type Program, spent } from './support/program.ts'
import { publishAll, publishBody } from './support/publishing.ts'
import { startDaemon } from './support/registry.ts'
import { type Measured, printTable } from './support/table.ts'

const FEW = 10
const MANY = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const VERSIONS = 999
const SIZE = 10_000
const ROUNDS = 8
const PUBLISHES = 20

/** Publishes of one kind, one after the other. */
interface Kind {
  readonly daemon: Program
  readonly token: string
  /** The crate and version of a publish. */
  readonly next: (number: number) => readonly [name: string, version: string]
  readonly times: number[]
  readonly untilAnswer: number[]
  readonly untilQuiet: number[]
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
const daemons: Program[] = []
try {
  const [few, many] = [await start(FEW), await start(MANY)]
  const versions = Array.from({ length: VERSIONS }, (_, at) =>
    publishBody('thousand', `0.1.${at}`, 1000),
  )
  // Both: V8 compiles what runs often, which takes some hundred publishes.
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
  for (let round = -1; round < ROUNDS; round++)
    for (const kind of Object.values(kinds)) await measure(kind, round)
  printTable([
    ...rows(
      `among ${MANY.toLocaleString('en-US')} crates`,
      kinds.many,
      [`among ${FEW}`, kinds.few],
      1.2,
    ),
    ...rows('version 1,000 of a crate', kinds.thousandth, ['version 1', kinds.first], 2),
  ])
} finally {
  for (const daemon of daemons) await daemon.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** A daemon on a copy of a registry. */
async function start(size: number): Promise<{ daemon: Program; token: string }> {
  const { dir, token } = await filledRegistry(size)
  const copy = join(folder, String(size))
  cpSync(dir, copy, { recursive: true })
  const daemon = await startDaemon(copy)
  daemons.push(daemon)
  await daemon.quiet()
  return { daemon, token }
}

function kindOf(at: Pick<Kind, 'daemon' | 'token'>, next: Kind['next']): Kind {
  return { ...at, next, times: [], untilAnswer: [], untilQuiet: [] }
}

/** One round; the first one only warms up. */
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
  kind.times.push(...done.map(one => one.took))
  kind.untilAnswer.push(spent(before, answered) / PUBLISHES)
  kind.untilQuiet.push(spent(before, daemon.usage()) / PUBLISHES)
}

function rows(what: string, own: Kind, [name, other]: [string, Kind], most: number): Measured[] {
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
