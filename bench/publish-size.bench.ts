/**
 * The server's time for one publish, in a registry of 10 crates and of 50,000: it must not grow
 * with the registry. Both are filled through the catalog, as publishes would fill them, and then
 * take real requests through the whole app.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { addUser } from '../daemon/accounts/accounts.ts'
import { createToken } from '../daemon/accounts/tokens.ts'
import { createApp } from '../daemon/app.ts'
import { Metrics } from '../daemon/metrics.ts'
import { IndexWorker } from '../daemon/workers/index-worker.ts'
import { inspect } from '../generator/add/add.ts'
import { build } from '../generator/build/build.ts'
import { initRegistry, openRegistry, type Registry } from '../generator/registry.ts'
import type { Change } from '../generator/store/catalog/change.ts'
import { registryCounts } from '../generator/store/catalog/crates.ts'
import { addRelease } from '../generator/store/catalog/publish.ts'
import { buildCrate } from '../test/support/crate-builder.ts'
import { encodePublish } from '../test/support/publish-body.ts'
import { format, quantile, timed } from './support/measure.ts'

const SIZES = [10, 50_000]
const PUBLISHES = 60
const AT = '2026-11-20T12:00:00Z'

/** A registry of some size, ready for requests. */
interface Bench {
  readonly size: number
  readonly publish: (number: number) => Promise<number>
  readonly close: () => Promise<void>
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  const benches: Bench[] = []
  for (const size of SIZES) benches.push(await prepareBench(size))
  const times = new Map(benches.map(bench => [bench, [] as number[]]))
  // In turn, so that whatever else the machine does slows all of them down alike. The first few
  // only warm up.
  for (let number = -10; number < PUBLISHES; number++) {
    for (const bench of benches) {
      const took = await bench.publish(number + 10)
      if (number >= 0) times.get(bench)?.push(took)
    }
  }
  const medians = benches.map(bench => {
    const all = times.get(bench) ?? []
    console.log(
      `${bench.size} crates: median ${format(quantile(all, 0.5))}, p95 ${format(quantile(all, 0.95))}`,
    )
    return quantile(all, 0.5)
  })
  const ratio = (medians.at(-1) ?? 0) / (medians[0] ?? 1)
  console.log(
    `a publish among ${SIZES.at(-1)} crates takes ${ratio.toFixed(2)} times as long as among ${SIZES[0]}`,
  )
  for (const bench of benches) await bench.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function prepareBench(size: number): Promise<Bench> {
  const dir = join(folder, String(size))
  await initRegistry(dir, { env: {} }, { 'registry.base_url': 'http://127.0.0.1:8080' })
  const registry = await openRegistry(dir, { env: { PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0' } })
  const user = await addUser(registry.database, { login: 'bench', admin: false, at: AT })
  const order = {
    userId: user.id,
    name: 'bench',
    scopes: null,
    crates: null,
    at: AT,
    expires: null,
  }
  const token = await createToken(registry.database, order)
  await timed(`filling ${size} crates`, () =>
    fill(registry, size, { at: AT, actor: 'bench', user, tokenId: null }),
  )
  await timed('build with nothing pending', () => build(registry))
  await timed('counts for status', () => registryCounts(registry.database))
  const indexWorker = new IndexWorker(registry, error => {
    throw error
  })
  const log = pino({ level: 'silent' })
  const clock = () => new Date()
  const app = createApp({
    registry,
    indexWorker,
    clock,
    log,
    metrics: new Metrics(registry),
    git: null,
  })
  return {
    size,
    publish: number => publishOnce(app, token, number),
    close: async () => {
      await indexWorker.close()
      await registry.close()
    },
  }
}

/** As many publishes' worth of records, and the tree as it is when nothing is pending. */
async function fill(registry: Registry, size: number, change: Change): Promise<void> {
  const bytes = buildCrate({ name: 'filler', version: '1.0.0' })
  const cksum = '0'.repeat(64)
  const path = join(registry.dir, 'filler.crate')
  writeFileSync(path, bytes)
  const source = { path, size: bytes.length, cksum }
  const release = await inspect(
    { bytes: source, pubtime: AT },
    registry.settings,
    registry.urls,
    [],
  )
  if (!release) throw new Error('the filler is no crate')
  await build(registry)
  // The bench does not wait for the disk; publishes do.
  await sql`PRAGMA synchronous = OFF`.execute(registry.database)
  for (let number = 0; number < size; number++) {
    const name = `filler-${number.toString(36)}` as typeof release.name
    const unlike = cksum.slice(8) + number.toString(16).padStart(8, '0')
    await addRelease(
      registry.database,
      { ...release, name, entry: { ...release.entry, name, cksum: unlike } },
      change,
    )
    // Libsql lets go of statements only while the event loop turns, which no statement by itself
    // makes it do.
    await setImmediate()
  }
  // Their files are what no publish looks at.
  await sql`DELETE FROM marks`.execute(registry.database)
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(registry.database)
  await sql`PRAGMA synchronous = FULL`.execute(registry.database)
}

/**
 * Milliseconds of one publish through the whole app: new crates and new versions of them in turn.
 */
async function publishOnce(
  app: ReturnType<typeof createApp>,
  token: string,
  number: number,
): Promise<number> {
  const [name, version] = [`bench-${Math.floor(number / 2)}`, `1.0.${number % 2}`]
  const metadata = {
    name,
    vers: version,
    deps: [],
    features: {},
    description: 'A crate for tests',
    license: 'MIT',
  }
  const body = encodePublish(metadata, buildCrate({ name, version }))
  const begin = performance.now()
  const answer = await app.request('/api/v1/crates/new', {
    method: 'PUT',
    headers: { authorization: token },
    body,
  })
  const text = await answer.text()
  const took = performance.now() - begin
  if (answer.status !== 200 || text.includes('"errors"'))
    throw new Error(`${answer.status} ${text}`)
  return took
}
