/**
 * `cargo search` in a registry of 200,000 crates under 16 clients, and beside them one client that
 * asks for `/healthz`: a search must not make others wait. `PLIMSOLL_BENCH_CRATES` is another
 * number of crates.
 */
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Libsql from 'libsql'
import { DATABASE_FILE } from '../generator/registry.ts'
import { filledRegistry } from './support/filled-registry.ts'
import { quantile } from './support/measure.ts'
import { spent } from './support/program.ts'
import { startDaemon } from './support/registry.ts'
import { printTable } from './support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const CLIENTS = 16
const SEARCHES = 4000

const { dir } = await filledRegistry(CRATES)
const queries = queriesOf(join(dir, DATABASE_FILE))
const daemon = await startDaemon(dir)
try {
  await daemon.quiet()
  await search(queries.length * 2)
  const before = daemon.usage()
  const { times, healthTimes, seconds } = await search(SEARCHES)
  const micros = (spent(before, daemon.usage()) / SEARCHES) * 1000
  const [p99, healthP99] = [quantile(times, 0.99), quantile(healthTimes, 0.99)]
  printTable([
    { what: `searches by ${CLIENTS} clients`, value: SEARCHES / seconds, unit: 'per second' },
    { what: 'processor time of a search', value: micros, unit: 'µs' },
    { what: 'search: median', value: quantile(times, 0.5), unit: 'ms' },
    { what: 'search: p99', value: p99, unit: 'ms' },
    { what: '/healthz beside them: p99', value: healthP99, unit: 'ms' },
    { what: 'p99 apart', value: p99 - healthP99, unit: 'ms', goal: { atMost: 10 } },
  ])
} finally {
  await daemon.stop()
}

/** What people ask for: a name, beginnings, words from very common to rare, two words, nothing. */
function queriesOf(path: string): string[] {
  const database = new Libsql(path)
  const texts = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map(row => (row as Row).text)
  const names = texts('SELECT name AS text FROM crates WHERE id % 997 = 5 ORDER BY id LIMIT 20')
  const all = texts(
    "SELECT term AS text FROM terms WHERE length(term) > 2 AND instr(term, ':') = 0 ORDER BY crates DESC, term",
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

/** Runs searches by all clients, and asks for `/healthz` until they are done. */
async function search(count: number) {
  const agent = new Agent({ keepAlive: true })
  const [times, healthTimes]: [number[], number[]] = [[], []]
  let [next, running] = [0, CLIENTS]
  const client = async () => {
    for (let at = next++; at < count; at = next++) {
      const query = encodeURIComponent(queries[at % queries.length] ?? '')
      times.push(await ask(agent, `/api/v1/crates?q=${query}&per_page=10`))
    }
    running--
  }
  const health = async () => {
    while (running > 0) healthTimes.push(await ask(agent, '/healthz'))
  }
  const begin = performance.now()
  await Promise.all([health(), ...Array.from({ length: CLIENTS }, client)])
  const seconds = (performance.now() - begin) / 1000
  agent.destroy()
  return { times, healthTimes, seconds }
}

/** Milliseconds of an answer. */
function ask(agent: Agent, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    const asked = get({ port: daemon.port, agent, path }, async response => {
      const answer = await text(response)
      if (response.statusCode !== 200) reject(new Error(`${path}: ${answer}`))
      else resolve(performance.now() - begin)
    })
    asked.on('error', reject)
  })
}
