import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Libsql from 'libsql'
import { canonicalName } from '../../core/name.ts'
import { Lookup } from '../../core/search/lookup.ts'
import { LIST, run } from '../../generator/database/statement.ts'
import { pageMarks } from '../../generator/pages/due.ts'
import { buildMarks } from '../../generator/pages/marked.ts'
import { beginWhole } from '../../generator/projections/search/layouts.ts'
import { searchFor } from '../../generator/projections/search/search.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { initRegistry, openRegistry, type Registry } from '../../generator/registry/registry.ts'
import { fillCatalog } from '../../test/support/filled-catalog.ts'
import { inventedEntries } from '../../test/support/many-crates.ts'
import { inventedQueries } from '../../test/support/queries.ts'
import { type SearchedCrate, searchFiles } from '../../test/support/whole-search.ts'
import { TermFiller } from '../support/term-filler.ts'

/**
 * The browser's search: the files that a query loads from a registry of 200,000 crates, and the
 * cost of a new crate for them. `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
const LARGE = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const SMALL = LARGE / 20
const NEW_CRATES = 25

/**
 * Invented crates with common words in their descriptions. A quarter of them have
 * dependents: half as many crates have twice as many.
 */
function entriesOf(count: number): SearchedCrate[] {
  const common = ['rust', 'library', 'for', 'a', 'the', 'async', 'simple']
  return inventedEntries(count).map((entry, id) => {
    const words = common.filter((_, at) => (id + at) % (at + 2) !== 0)
    const description = `${words.join(' ')} ${entry.about.description}`
    const place = (Math.imul(id, 0x9e3779b1) >>> 0) / 2 ** 32
    const license = id % 3 === 0 ? 'MIT' : 'MIT OR Apache-2.0'
    const categories = id % 5 === 0 ? ['parsing'] : []
    const about = { ...entry.about, description, license, categories }
    return { ...entry, about, dependents: Math.floor(0.25 / (place + 1 / count)) }
  })
}

// By name, as a tree of files alone numbers its crates, so that both give equal crates equal
// places.
const large = entriesOf(LARGE).sort((a, b) =>
  canonicalName(a.name) < canonicalName(b.name) ? -1 : 1,
)
const files = measureFiles(large)
for (const query of ['serde json', 's', 'rust library', 'fast-json'])
  await measureQuery(files, query)
await measureSearches(files)
const costs: number[] = []
for (const size of [SMALL, LARGE])
  costs.push(await measureChange(large.filter((_, at) => at % (LARGE / size) === 0)))
console.log(
  `a new crate at ${LARGE} crates: ${((costs[1] ?? 0) / (costs[0] ?? 1)).toFixed(2)} times the work at ${SMALL}`,
)

function measureFiles(entries: readonly SearchedCrate[]): Map<string, Buffer> {
  const start = performance.now()
  const made = new Map<string, Buffer>()
  for (const file of searchFiles(entries)) made.set(file.path, file.bytes)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const sizes = [...made.values()].map(bytes => bytes.length)
  const whole = sizes.reduce((sum, size) => sum + size, 0)
  const memory = process.memoryUsage().rss
  console.log(
    `${entries.length} crates: ${made.size} files, ${mebi(whole)}, the largest ${kibi(Math.max(...sizes))}`,
  )
  console.log(
    `  ${made.get('search/layout.json')?.toString().trim()}, made in ${seconds} s, ${mebi(memory)} of memory`,
  )
  return made
}

/** Types a query letter by letter, every letter a search; then the same query at once. */
async function measureQuery(made: ReadonlyMap<string, Buffer>, query: string): Promise<void> {
  const run = async (texts: readonly string[]) => {
    const loaded: Buffer[] = []
    const lookup = lookupIn(made, loaded)
    const start = performance.now()
    for (const text of texts) await lookup.suggest(text, 8)
    const ms = (performance.now() - start).toFixed(1)
    const [raw, zipped] = [loaded, loaded.map(bytes => gzipSync(bytes))].map(list =>
      list.reduce((sum, bytes) => sum + bytes.length, 0),
    )
    return `${loaded.length} requests, ${kibi(raw ?? 0)} (${kibi(zipped ?? 0)} as gzip), ${ms} ms`
  }
  console.log(
    `  “${query}” typed letter by letter: ${await run(Array.from(query, (_, at) => query.slice(0, at + 1)))}`,
  )
  console.log(`  “${query}” at once: ${await run([query])}`)
}

/** Measures the files that whole pages of results load. */
async function measureSearches(made: ReadonlyMap<string, Buffer>): Promise<void> {
  const filters = [
    {},
    { license: 'mit' },
    { license: 'mit', category: 'parsing' },
    { rust: '1.70' },
  ]
  const texts = ['rust', 'rust library', 'rust async simple library', 's c', 'serde library rust']
  let [all, most] = [0, 0]
  for (const q of [...texts, ...inventedQueries(large, 200)]) {
    for (const [at, filter] of filters.entries()) {
      const loaded: Buffer[] = []
      const request = { ...searchFor(q), filters: filter }
      const { total } = await lookupIn(made, loaded).search(request, 20)
      const bytes = loaded.reduce((sum, file) => sum + gzipSync(file).length, 0)
      most = Math.max(most, bytes)
      all++
      if (!texts.includes(q)) continue
      console.log(
        `  “${q}”, filters ${at}: ${loaded.length} requests, ${bytes} bytes, ${total} found`,
      )
    }
  }
  console.log(`  ${all} searches load at most ${most} bytes`)
}

function lookupIn(made: ReadonlyMap<string, Buffer>, loaded: Buffer[]): Lookup {
  return new Lookup(async path => {
    const bytes = made.get(`search/${path}`)
    if (!bytes) throw new Error(`there is no ${path}`)
    loaded.push(bytes)
    return bytes.toString()
  })
}

/** The processor time in ms that the files of the search and the site map take for a new crate. */
async function measureChange(entries: readonly SearchedCrate[]): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  try {
    const sources = { env: { PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test' } }
    await initRegistry(dir, sources, {})
    const registry = await openRegistry(dir, sources)
    fill(join(dir, DATABASE_FILE), entries)
    await registry.database.transaction(async tx => {
      await beginWhole(tx)
      await run(tx, "DELETE FROM marks WHERE kind = 'search' AND subject <= ?", entries.length)
    })
    await render(registry)
    const times: number[] = []
    let written = 0
    for (let at = 0; at < NEW_CRATES; at++) {
      const [first, second] = [large[at * 7 + 3], large[at * 11 + 5]]
      const name = `${first?.name}-new${at}`
      await fillCatalog(registry, [
        {
          name,
          newest: '1.0.0',
          about: { description: second?.about.description ?? '', keywords: ['json'] },
          yanked: false,
        },
      ])
      const { ms, files } = await render(registry)
      times.push(ms)
      written += files
    }
    times.sort((a, b) => a - b)
    const middle = times[Math.floor(times.length / 2)] ?? 0
    console.log(
      `${entries.length} crates: a new one renders ${(written / NEW_CRATES).toFixed(1)} files, ${middle.toFixed(1)} ms of processor time`,
    )
    await registry.close()
    return middle
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function render(registry: Registry): Promise<{ ms: number; files: number }> {
  const kinds = ['list', 'page', 'release', 'site'] as const
  await run(registry.database, `DELETE FROM marks WHERE kind IN ${LIST}`, kinds)
  const used = process.cpuUsage()
  let files = 0
  for (
    let marks = await pageMarks(registry.database, new Date());
    marks.length > 0;
    marks = await pageMarks(registry.database, new Date())
  ) {
    files += (await buildMarks(registry, marks))?.length ?? 0
  }
  const { user, system } = process.cpuUsage(used)
  return { ms: (user + system) / 1000, files }
}

/** Fills the tables that the files are made of, in bulk. */
function fill(path: string, entries: readonly SearchedCrate[]): void {
  const connection = new Libsql(path)
  connection.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; BEGIN')
  const crate = connection.prepare('INSERT INTO crates VALUES (?, ?, ?, ?, ?, 1)')
  const release = connection.prepare(
    `INSERT INTO releases (id, crate_id, version, identity, cksum, size, yanked, line, about, readme,
      published_at, published_by) VALUES (?, ?, '1.0.0', '1.0.0', '', 1, 0, '{}', ?, null, ?, null)`,
  )
  const listing = connection.prepare(
    `INSERT INTO listings (crate_id, canonical, newest_id, latest_id, stable_id, versions, yanked,
      updated_at) VALUES (?, ?, ?, ?, ?, 1, 0, ?)`,
  )
  const counted = connection.prepare('UPDATE listings SET dependents = ? WHERE crate_id = ?')
  const prefix = connection.prepare("INSERT INTO prefixes (prefix, crates) VALUES ('', ?)")
  prefix.run(entries.length)
  const terms = new TermFiller(connection)
  const time = '2026-11-20T12:00:00Z'
  for (const [at, { name, about, yanked, dependents = 0 }] of entries.entries()) {
    const id = at + 1
    const key = canonicalName(name)
    crate.run(id, name, key, key, time)
    release.run(id, id, JSON.stringify(about), time)
    listing.run(id, key, id, id, id, time)
    counted.run(dependents, id)
    terms.add(id, { canonical: key, ...about, yanked, dependents })
  }
  terms.finish(connection)
  connection.exec('COMMIT')
  connection.close()
}

function kibi(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`
}

function mebi(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(0)} MiB`
}
