/**
 * Records of 200,000 crates on PostgreSQL, with `.crate` files on an S3 server and the public tree in
 * a folder: a publish beside one among 10 crates there, and `cargo search` under 16 clients.
 * `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { pagesFingerprint } from '../generator/pages/claim.ts'
import { writeFact } from '../generator/records/facts.ts'
import { initRegistry, openRegistry } from '../generator/registry/registry.ts'
import { environmentOf, type TestS3 } from '../test/support/s3/environment.ts'
import { BASE_URL, filledRegistry } from './support/filled-registry.ts'
import type { Program } from './support/program.ts'
import { comparison, kindOf, measureRounds } from './support/publish-rounds.ts'
import { publishAll, publishBody } from './support/publishing.ts'
import { measureSearches } from './support/searching.ts'
import { FILLED, Servers } from './support/servers.ts'
import { printTable } from './support/table.ts'

const FEW = 10
const MANY = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const WARM = 600

const missing = Servers.missing()
if (missing !== null) {
  console.log(missing)
  process.exit()
}
const servers = new Servers()
try {
  const s3 = await servers.s3()
  const [few, many] = [await start(FEW, s3), await start(MANY, s3)]
  const warming = Array.from({ length: WARM }, (_, at) => publishBody('warm', `0.1.${at}`, 1000))
  for (const { daemon, token } of [few, many]) {
    await publishAll({ token, port: daemon.port }, warming, 4)
    await daemon.quiet()
  }
  const crate = (number: number) => [`bench-${number}`, '1.0.0'] as const
  const kinds = { few: kindOf(few, crate), many: kindOf(many, crate) }
  await measureRounds(Object.values(kinds))
  const searches = await measureSearches(many.daemon, (await filledRegistry(MANY)).dir)
  const among = `among ${MANY.toLocaleString('en-US')} crates`
  printTable([...comparison(among, kinds.many, [`among ${FEW}`, kinds.few], 1.2), ...searches])
} finally {
  await servers.close()
}

/** A daemon on copies of the records and of the public tree. */
async function start(size: number, s3: TestS3): Promise<{ daemon: Program; token: string }> {
  const { dir, token } = await filledRegistry(size)
  const server = await servers.filled(size)
  const copy = join(servers.folder, String(size))
  await initRegistry(copy, { env: {} }, { 'registry.base_url': BASE_URL })
  cpSync(join(dir, 'public'), join(copy, 'public'), { recursive: true })
  const env = {
    ...environmentOf(s3, { crates: `s3://test/crates-${size}` }),
    PLIMSOLL_DATABASE_URL: server.url(FILLED),
    PLIMSOLL_GIT_INDEX: 'off',
  }
  // Other styles or texts would make the daemon render all pages during the measurement.
  const registry = await openRegistry(copy, { env })
  await writeFact(registry.database, 'pages', pagesFingerprint(registry))
  await registry.close()
  const daemon = await servers.daemon(copy, env)
  await daemon.quiet()
  return { daemon, token }
}
