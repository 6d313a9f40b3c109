/**
 * Rendering every page of 10,000 crates with READMEs and some files, and the cost of a publish
 * meanwhile, which pages must not delay. `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { createApp } from '../daemon/app.ts'
import { Metrics } from '../daemon/http/metrics.ts'
import { DownloadCounter } from '../daemon/workers/download-worker.ts'
import { IndexWorker } from '../daemon/workers/index-worker.ts'
import { run } from '../generator/database/statement.ts'
import { markAll } from '../generator/pages/claim.ts'
import { countPageMarks } from '../generator/pages/due.ts'
import { buildPages } from '../generator/pages/pages.ts'
import { build } from '../generator/projections/index/build.ts'
import { addUser } from '../generator/records/accounts/accounts.ts'
import { createToken } from '../generator/records/accounts/tokens.ts'
import { type Change, operatorChange } from '../generator/records/change.ts'
import { initRegistry, openRegistry, type Registry } from '../generator/registry/registry.ts'
import { openUpstreams } from '../generator/upstream/open.ts'
import { buildCrate } from '../test/support/crate-builder.ts'
import { quantile } from '../test/support/measure.ts'
import { publishRequest } from '../test/support/release.ts'
import { addSubmission } from '../test/support/workplace.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 10_000)
const PUBLISHES = 60
const AT = '2026-11-20T12:00:00Z'

const WORDS =
  'parser stream index archive network async buffer codec config error future graph hash image json kernel lexer macro number object packet query render schema token unicode vector window'.split(
    ' ',
  )

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  await initRegistry(folder, { env: {} }, { 'registry.base_url': 'http://127.0.0.1:8080' })
  const registry = await openRegistry(folder, { env: { PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0' } })
  const user = await addUser(
    registry.database,
    { login: 'bench', admin: false },
    operatorChange(AT),
  )
  await timed(`taking in ${CRATES} crates`, () =>
    fill(registry, { at: AT, actor: 'bench', user, tokenId: null, stillMay: async () => user }),
  )
  await timed('index files and .crate files', () => build(registry))
  const begin = performance.now()
  await timed('every page', () => buildPages(registry))
  const took = performance.now() - begin
  const { rss } = process.memoryUsage()
  console.log(
    `  per crate: ${format(took / CRATES)}; memory of the process: ${Math.round(rss / 1024 ** 2)} MiB`,
  )
  await timed('every page again, nothing changed', () => buildPages(registry, { all: true }))
  await publishBeside(registry, user.id)
  await registry.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Publishes on a quiet registry, then while every page is being rendered. */
async function publishBeside(registry: Registry, userId: number): Promise<void> {
  const order = { userId, name: 'bench', scopes: null, crates: null, expires: null }
  const { token } = await createToken(registry.database, order, operatorChange(AT))
  const indexWorker = new IndexWorker(registry, error => {
    throw error
  })
  const log = pino({ level: 'silent' })
  const app = createApp({
    registry,
    indexWorker,
    log,
    metrics: new Metrics(registry),
    git: null,
    downloads: new DownloadCounter(),
    upstreams: await openUpstreams(registry, { env: {} }),
  })
  const publish = async (number: number) => {
    const body = publishRequest({ name: `beside-${number}`, version: '1.0.0' })
    const begin = performance.now()
    const answer = await app.request('/api/v1/crates/new', {
      method: 'PUT',
      headers: { authorization: token },
      body,
    })
    const text = await answer.text()
    if (answer.status !== 200 || text.includes('"errors"'))
      throw new Error(`${answer.status} ${text}`)
    return performance.now() - begin
  }
  const quiet: number[] = []
  for (let number = -10; number < PUBLISHES; number++) {
    const took = await publish(number + 10)
    if (number >= 0) quiet.push(took)
  }
  await indexWorker.pages.flush()
  await registry.database.transaction(markAll)
  const rendering = indexWorker.pages.flush()
  const busy: number[] = []
  for (let number = 0; number < PUBLISHES; number++) busy.push(await publish(number + 1000))
  const left = await countPageMarks(registry.database)
  console.log(
    `  publishes, pages at rest: median ${format(quantile(quiet, 0.5))}, p95 ${format(quantile(quiet, 0.95))}`,
  )
  console.log(
    `  while pages are rendered: median ${format(quantile(busy, 0.5))}, p95 ${format(quantile(busy, 0.95))}`,
  )
  console.log(
    `  ratio ${(quantile(busy, 0.5) / quantile(quiet, 0.5)).toFixed(2)}; ${left} pages were left to render then`,
  )
  await indexWorker.pages.close(0)
  await rendering
  await indexWorker.close()
}

/** Crates with READMEs of some 6 KiB and a few files, no two alike. */
async function fill(registry: Registry, change: Change): Promise<void> {
  // The bench does not wait for the disk; publishes do.
  await run(registry.database, 'PRAGMA synchronous = OFF')
  for (let number = 0; number < CRATES; number++) {
    const word = (at: number) => WORDS[(number * 7 + at * at) % WORDS.length] ?? ''
    const name = `${word(1)}-${word(2)}-${number.toString(36)}`
    const paragraphs = Array.from({ length: 24 }, (_, at) => {
      const text = Array.from({ length: 20 }, (_, more) => word(at + more)).join(' ')
      if (at % 6 === 5)
        return `\`\`\`rust\npub fn ${word(at)}_${at}(x: u32) -> Result<u32, Error> {\n    Ok(x + ${at}) // ${text}\n}\n\`\`\``
      if (at % 6 === 2)
        return `| ${word(1)} | ${word(2)} |\n|---|---|\n| ${text} | [link](docs/${at}.md) |`
      return at % 6 === 0
        ? `## ${word(at)} ${word(at + 1)}`
        : `${text}, see \`${word(at)}\` and **${word(at + 3)}**.`
    })
    const code = Array.from(
      { length: 60 },
      (_, at) => `pub fn ${word(at)}_${at}() -> u32 { ${number + at} }`,
    ).join('\n')
    const files = {
      'README.md': `# ${name}\n\n${paragraphs.join('\n\n')}\n`,
      'src/lib.rs': code,
      'src/main.rs': 'fn main() {}\n',
    }
    const manifest = `readme = "README.md"\nkeywords = ["${word(3)}", "${word(4)}x"]\n`
    const bytes = buildCrate({ name, version: '1.0.0', manifest, files })
    const staged = await registry.crates.stage(chunkOf(bytes), bytes.length)
    await addSubmission(registry, { bytes: staged, pubtime: AT }, change)
    // Libsql lets go of statements only while the event loop turns, which no statement by itself
    // makes it do.
    await setImmediate()
  }
  await run(registry.database, 'PRAGMA wal_checkpoint(TRUNCATE)')
  await run(registry.database, 'PRAGMA synchronous = FULL')
}

async function* chunkOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Runs `work` and says how long it took. */
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begin = performance.now()
  const result = await work()
  console.log(`  ${what}: ${format(performance.now() - begin)}`)
  return result
}

/** A duration in milliseconds, as people read it. */
function format(milliseconds: number): string {
  return milliseconds < 1000
    ? `${milliseconds.toFixed(1)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`
}
