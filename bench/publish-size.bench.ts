/**
 * A publish in registries of 10 crates and of 200,000, and of a crate with 999 versions and with
 * none: its cost must hardly grow. They take turns, so that other work on the machine slows all of
 * them down alike. `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filledRegistry } from './support/filled-registry.ts'
import type { Program } from './support/program.ts'
import { comparison, kindOf, measureRounds } from './support/publish-rounds.ts'
import { publishAll, publishBody } from './support/publishing.ts'
import { startDaemon } from './support/registry.ts'
import { printTable } from './support/table.ts'

const FEW = 10
const MANY = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const VERSIONS = 999

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
const daemons: Program[] = []
try {
  const [few, many] = [await start(FEW), await start(MANY)]
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
  await measureRounds(Object.values(kinds))
  const among = `among ${MANY.toLocaleString('en-US')} crates`
  printTable([
    ...comparison(among, kinds.many, [`among ${FEW}`, kinds.few], 1.2),
    ...comparison('version 1,000 of a crate', kinds.thousandth, ['version 1', kinds.first], 2),
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
