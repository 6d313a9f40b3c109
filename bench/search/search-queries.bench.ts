import type { Database } from '../../generator/database/connection.ts'
import { all } from '../../generator/database/statement.ts'
import { searchCrates, searchFor } from '../../generator/projections/search/search.ts'
import { openRegistry, type Registry } from '../../generator/registry/registry.ts'
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
  return {
    middle: names.at(-1)?.name ?? '',
    common: terms.slice(0, 3),
    middling: [terms[40], terms[60]],
    rare: terms.at(-1) ?? '',
  }
}

async function measure(registry: Registry): Promise<void> {
  const { middle, common, middling, rare } = await wordsOf(registry.database)
  const [first, second, third] = common
  const queries: [string, string, number][] = [
    ['exact name', middle, 0],
    ['beginning of names', middle.slice(0, 3), 0],
    ['one letter', middle.slice(0, 1), 0],
    ['rare word', rare, 0],
    ['very common word', `${first}`, 0],
    ['very common word, page 100', `${first}`, 990],
    ['two words, one rare', `${first} ${rare}`, 0],
    ['two words, middling', middling.join(' '), 0],
    ['two very common words', `${first} ${second}`, 0],
    ['the same, page 100', `${first} ${second}`, 990],
    ['three very common words', `${first} ${second} ${third}`, 0],
    ['common word, one letter', `${first} ${middle.slice(0, 1)}`, 0],
    ['no match', 'qqqqqqqq', 0],
    [
      'eight typos',
      common
        .concat(middling.join(' '))
        .map(word => word.replace(/.$/, 'q'))
        .join(' '),
      0,
    ],
    ['empty', '', 0],
    ['empty, page 100', '', 990],
  ]
  for (const [what, query, offset] of queries) {
    const times: number[] = []
    let total = 0
    const delay = new LoopDelay()
    const watching = delay.watch()
    const used = process.cpuUsage()
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now()
      total = (await searchCrates(registry, searchFor(query), { limit: 10, offset })).total
      times.push(performance.now() - start)
    }
    const most = delay.end().toFixed(1).padStart(5)
    await watching
    times.sort((a, b) => a - b)
    // A busy machine does not lengthen processor time.
    const { user, system } = process.cpuUsage(used)
    const cpu = ((user + system) / 1000 / ROUNDS).toFixed(2).padStart(7)
    const at = (part: number) =>
      (times[Math.floor(times.length * part)] ?? 0).toFixed(2).padStart(8)
    console.log(
      `  ${what.padEnd(28)} ${String(total).padStart(7)} found  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  cpu ${cpu} ms  held ${most} ms`,
    )
  }
}
