import type { Database } from '../../generator/database/connection.ts'
import { all } from '../../generator/database/statement.ts'
import { searchCrates, searchFor } from '../../generator/projections/search/search.ts'
import { openRegistry, type Registry } from '../../generator/registry/registry.ts'
import { quantile } from '../../test/support/measure.ts'
import { filledRegistry } from '../support/filled-registry.ts'
import { LoopDelay } from '../support/loop-delay.ts'

/**
 * Search in small and large registries: the cost of each kind of query for the daemon, and how long
 * a query blocks the event loop at a time.
 */
const SIZES = (process.env.PLIMSOLL_BENCH_CRATES ?? '20000 200000').split(' ').map(Number)
const ROUNDS = 300

for (const size of SIZES) {
  const { dir } = await filledRegistry(size)
  const registry = await openRegistry(dir, { env: {} })
  console.log(`${size} crates`)
  await measure(registry)
  await registry.close()
}

/** A name, and words by how many crates they find. */
async function wordsOf(database: Database) {
  const names = await all<{ name: string }>(
    database,
    'SELECT name FROM crates ORDER BY id LIMIT 100',
  )
  const rows = await all<{ term: string }>(
    database,
    'SELECT term FROM search_terms WHERE words > 0 GROUP BY 1 ORDER BY sum(words) DESC, 1 LIMIT 5000',
  )
  const terms = rows.map(row => row.term)
  return { name: names.at(-1)?.name ?? '', terms, rare: terms.at(-1) ?? '' }
}

async function measure(registry: Registry): Promise<void> {
  const { name, terms, rare } = await wordsOf(registry.database)
  const [first = '', second = '', third = ''] = terms
  const typos = [0, 1, 2, 40, 45, 50, 55, 60].map(at => terms[at]?.replace(/.$/, 'q'))
  const queries: readonly (readonly [what: string, query: string, offset: number])[] = [
    ['exact name', name, 0],
    ['rare word', rare, 0],
    ['very common word', first, 0],
    ['the same, page 100', first, 990],
    ['two very common words', `${first} ${second}`, 0],
    ['three very common words', `${first} ${second} ${third}`, 0],
    ['eight words, each with a typo', typos.join(' '), 0],
  ]
  for (const [what, query, offset] of queries) {
    const times: number[] = []
    let total = 0
    const delay = new LoopDelay()
    const watching = delay.watch()
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now()
      total = (await searchCrates(registry, searchFor(query), { limit: 10, offset })).total
      times.push(performance.now() - start)
    }
    const held = delay.end()
    await watching
    const [p50, p99, most] = [quantile(times, 0.5), quantile(times, 0.99), held].map(ms =>
      ms.toFixed(1).padStart(6),
    )
    console.log(
      `  ${what.padEnd(29)} ${String(total).padStart(7)} found  p50 ${p50} ms  p99 ${p99} ms  held ${most} ms`,
    )
  }
}
