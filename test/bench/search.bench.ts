/**
 * `cargo search` in a registry of 200,000 crates under 16 clients, and beside them one client that
 * asks for `/healthz`: a search must not make others wait. `PLIMSOLL_BENCH_CRATES` is another
 * number of crates.
 */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { openSqlite } from '../../generator/places/disk/sqlite-file.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { quantile } from '../support/measure.ts'
import { filledRegistry } from './support/filled-registry.ts'
import { spent } from './support/program.ts'
import { ask } from './support/publishing.ts'
import { bench } from './support/servers.ts'
import { measured } from './support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const CLIENTS = 16
const SEARCHES = 4000
/** Number of runs before the measurement: V8 compiles the hot code. */
const WARM_UP = 10
/** Number of times that one client sends every query. */
const ROUNDS_ALONE = 10

await bench(async servers => {
  const { dir } = await filledRegistry(CRATES)
  const daemon = await servers.daemon(dir)
  await daemon.quiet()
  const queries = queriesOf(join(dir, DATABASE_FILE))
  await search(daemon.port, queries, queries.length * WARM_UP, CLIENTS)
  const alone = await search(daemon.port, queries, queries.length * ROUNDS_ALONE, 1)
  const before = daemon.usage()
  const { times, healthTimes, seconds } = await search(daemon.port, queries, SEARCHES, CLIENTS)
  const micros = (spent(before, daemon.usage()) / SEARCHES) * 1000
  return [
    measured('one client: median', quantile(alone.times, 0.5), 'ms'),
    measured('one client: p99', quantile(alone.times, 0.99), 'ms', { atMost: 80 }),
    measured(`searches by ${CLIENTS} clients`, SEARCHES / seconds, 'per second'),
    measured('processor time of a search', micros, 'µs'),
    measured(`${CLIENTS} clients: median`, quantile(times, 0.5), 'ms'),
    measured(`${CLIENTS} clients: p99`, quantile(times, 0.99), 'ms'),
    measured('/healthz beside them: p99', quantile(healthTimes, 0.99), 'ms', { atMost: 20 }),
  ]
})

/** Typical queries: a name, beginnings, words from very common to rare, two words, nothing. */
function queriesOf(path: string): string[] {
  const database = openSqlite(path)
  const texts = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map(row => (row as Row).text)
  const names = texts('SELECT name AS text FROM crates WHERE id % 997 = 5 ORDER BY id LIMIT 20')
  const all = texts(
    'SELECT term AS text FROM search_terms WHERE words > 0 GROUP BY 1 ORDER BY sum(words) DESC, 1',
  )
  database.close()
  const words = Array.from(
    { length: 20 },
    (_, at) => all[Math.floor(all.length ** (at / 20))] ?? '',
  )
  const pairs = words.map((word, at) => `${word} ${words[(at + 3) % words.length]}`)
  const beginnings = names.map((name, at) => name.slice(0, 1 + (at % 4)))
  return [...names, ...beginnings, ...words, ...pairs, 'qqqqqqqq']
}

interface Row {
  readonly text: string
}

/** Runs searches by some clients, and asks for `/healthz` until they are done. */
async function search(port: number, queries: readonly string[], count: number, clients: number) {
  const agent = new Agent({ keepAlive: true })
  const [times, healthTimes]: [number[], number[]] = [[], []]
  let [next, running] = [0, clients]
  const client = async () => {
    for (let at = next++; at < count; at = next++) {
      const query = encodeURIComponent(queries[at % queries.length] ?? '')
      times.push(await ask(port, agent, `/api/v1/crates?q=${query}&per_page=10`))
    }
    running--
  }
  const health = async () => {
    while (running > 0) healthTimes.push(await ask(port, agent, '/healthz'))
  }
  const begin = performance.now()
  await Promise.all([health(), ...Array.from({ length: clients }, client)])
  const seconds = (performance.now() - begin) / 1000
  agent.destroy()
  return { times, healthTimes, seconds }
}
