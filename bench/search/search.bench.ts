/**
 * `cargo search` in a registry of 200,000 crates under 16 clients, and beside them one client that
 * asks for `/healthz`: a search must not make others wait. `PLIMSOLL_BENCH_CRATES` is another
 * number of crates.
 */
import { filledRegistry } from '../support/filled-registry.ts'
import { startDaemon } from '../support/registry.ts'
import { measureSearches } from '../support/searching.ts'
import { printTable } from '../support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)

const { dir } = await filledRegistry(CRATES)
const daemon = await startDaemon(dir)
try {
  await daemon.quiet()
  printTable(await measureSearches(daemon, dir))
} finally {
  await daemon.stop()
}
