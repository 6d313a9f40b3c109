import { gzipSync } from 'node:zlib'
import { canonicalName } from '../../core/name.ts'
import { Lookup } from '../../core/search/lookup.ts'
import { searchFor } from '../../generator/projections/search/search.ts'
import { inventedEntries } from '../../test/support/many-crates.ts'
import { inventedQueries } from '../../test/support/queries.ts'
import { type SearchedCrate, searchFiles } from '../../test/support/whole-search.ts'

/**
 * The browser's search: the files that searches load from a registry of 200,000 crates.
 * `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)

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

// By name, as a tree of files alone numbers its crates.
const entries = entriesOf(CRATES).sort((a, b) =>
  canonicalName(a.name) < canonicalName(b.name) ? -1 : 1,
)
await measureSearches(measureFiles())

function measureFiles(): Map<string, Buffer> {
  const made = new Map<string, Buffer>()
  for (const file of searchFiles(entries)) made.set(file.path, file.bytes)
  const sizes = [...made.values()].map(bytes => bytes.length)
  const whole = sizes.reduce((sum, size) => sum + size, 0) / 1024 ** 2
  const largest = Math.max(...sizes) / 1024
  console.log(
    `${CRATES} crates: ${made.size} files, ${whole.toFixed(0)} MiB, the largest ${largest.toFixed(1)} KiB`,
  )
  return made
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
  for (const q of [...texts, ...inventedQueries(entries, 200)]) {
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
