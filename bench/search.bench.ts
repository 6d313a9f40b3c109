/**
 * `cargo search` in a registry of 200,000 crates under 16 clients, and beside them one client that
 * asks for `/healthz`: a search must not make others wait. `PLIMSOLL_BENCH_CRATES` is another
 * number of crates.
 */
import { filledRegistry } from './support/filled-registry.ts'
import { measureSearches } from './support/searching.ts'
import { bench } from './support/servers.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)

await bench(async servers => {
  const { dir } = await filledRegistry(CRATES)
  const daemon = await servers.daemon(dir)
  await daemon.quiet()
  return measureSearches(daemon, dir)
})
