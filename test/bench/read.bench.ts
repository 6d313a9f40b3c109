/**
 * Reading from the real program: the cost of an answer next to plain `node:http` and `node:http2`,
 * which answer the same bytes and headers from memory; downloads and `cargo fetch` next to nginx
 * over the same files. The yardstick and the daemon take turns.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeCertificate } from '../support/certificate.ts'
import { quantile } from '../support/measure.ts'
import { send } from '../support/raw-publish.ts'
import { coldFetch, publishLayers } from './read/cargo-fetch.ts'
import { type Load, measure, requestText } from './read/load.ts'
import { isInstalled, requestsPerSecond, startNginx } from './read/nginx.ts'
import { Program } from './support/program.ts'
import { publishAll, publishBody } from './support/publishing.ts'
import { newRegistry } from './support/registry.ts'
import { bench, type Servers } from './support/servers.ts'
import { type Goal, type Measurement, measured } from './support/table.ts'
import type { Answer } from './yardsticks/answer.ts'

const ANSWER = join(dirname(fileURLToPath(import.meta.url)), 'yardsticks/answer.js')
const FETCHES = 3
const CRATES = 300
const INDEX = '/index/de/mo/demo'
const SIZES = new Map([
  ['100 KB', 100_000],
  ['10 MB', 10_000_000],
])

const asks = {
  'user-agent': 'cargo/1.95.0 (f2d3ce0bd 2026-03-21)',
  'cargo-protocol': 'version=1',
  accept: 'text/plain',
}
const accepts = { ...asks, 'accept-encoding': 'deflate, gzip' }

await bench(async servers => {
  const home = join(servers.folder, 'registry')
  const token = await newRegistry(home)
  const plain = await servers.daemon(home)
  const target = { port: plain.port, token }
  const versions = Array.from({ length: 30 }, (_, at) => publishBody('demo', `1.0.${at}`, 1000))
  await publishAll(target, versions, 1)
  const crates = [...SIZES.values()].map(size => publishBody(crateOf(size), '1.0.0', size))
  await publishAll(target, crates, 1)
  const origin = `http://127.0.0.1:${plain.port}`
  const last = await publishLayers(target, `sparse+${origin}/index/`, CRATES)
  await plain.quiet()
  // A new file is read again with each request; see `FileCache`.
  await sleep(2100)
  const rows = [
    ...(await answers(servers.folder, plain)),
    ...(await besideNginx(servers, plain, origin, last)),
  ]
  await plain.stop()
  return [...rows, ...(await secureAnswers(servers, home))]
})

function crateOf(size: number): string {
  return `crate-of-${size}`
}

function pathOf(size: number): string {
  return `/crates/${crateOf(size)}/${crateOf(size)}-1.0.0.crate`
}

/** Processor time per answer over HTTP/1.1, by 16 connections. */
async function answers(folder: string, daemon: Program): Promise<Measurement[]> {
  const origin = `http://127.0.0.1:${daemon.port}`
  const etag = (await send('GET', origin, INDEX, accepts)).headers.etag ?? ''
  const cases = [
    ['index file, 200', INDEX, asks, { atMost: 1.3 }],
    ['index file, 200, gzip', INDEX, accepts, { atMost: 1.3 }],
    ['index file, 304', INDEX, { ...accepts, 'if-none-match': etag }, { atMost: 1.3 }],
    ['.crate of 100 KB', pathOf(100_000), asks, {}],
  ] as const
  const rows: Measurement[] = []
  for (const [what, path, asked, goal] of cases) {
    const { status, headers, bytes } = await send('GET', origin, path, asked)
    const answer = { status, headers: ownHeaders(headers), bytes, tls: null }
    const load = { request: requestText(path, asked), connections: 16 }
    const [value, beside] = await compare(folder, daemon, answer, load)
    const yardstick = { name: 'node:http', value: beside }
    rows.push(measured(`${what}: processor time`, value, 'µs', goal, yardstick))
  }
  return rows
}

/** The same over TLS and HTTP/2, 100 streams at a time. */
async function secureAnswers(servers: Servers, home: string): Promise<Measurement[]> {
  const { folder } = servers
  const tls = makeCertificate(folder, 'bench')
  const env = { PLIMSOLL_TLS_CERT: tls.cert, PLIMSOLL_TLS_KEY: tls.key }
  const daemon = await servers.daemon(home, env)
  await daemon.quiet()
  const ca = readFileSync(tls.cert, 'utf8')
  const origin = { baseUrl: `https://127.0.0.1:${daemon.port}`, ca }
  const etag = (await send('GET', origin, INDEX, accepts)).headers.etag ?? ''
  const rows: Measurement[] = []
  for (const [what, asked] of [
    ['index file over HTTP/2, 200, gzip', accepts],
    ['index file over HTTP/2, 304', { ...accepts, 'if-none-match': etag }],
  ] as const) {
    const { status, headers, bytes } = await send('GET', origin, INDEX, asked)
    const answer = { status, headers: ownHeaders(headers), bytes, tls }
    const request = { path: INDEX, headers: asked, streams: 100, ca: tls.cert }
    const [value, beside] = await compare(folder, daemon, answer, { request, connections: 1 })
    const yardstick = { name: 'node:http2', value: beside }
    rows.push(measured(`${what}: processor time`, value, 'µs', { atMost: 1.5 }, yardstick))
  }
  return rows
}

/** Requests, megabytes and fetches per second; nginx serves a copy of the tree. */
async function besideNginx(
  servers: Servers,
  daemon: Program,
  origin: string,
  dependencies: readonly string[],
): Promise<Measurement[]> {
  const missing = ['nginx', 'wrk'].filter(name => !isInstalled(name))
  if (missing.length > 0) {
    console.log(`not measured next to nginx: ${missing.join(', ')} missing (apt-get install)`)
    return []
  }
  const { folder } = servers
  const tree = join(folder, 'registry', 'public')
  const nginx = await servers.stopping(startNginx(join(folder, 'nginx'), tree, origin))
  const pair = [daemon, nginx] as const
  const rate = (path: string) =>
    alternately(pair, 1, ({ port }) => requestsPerSecond(port, path, 2))
  const row = (what: string, unit: string, [value, beside]: [number, number], goal: Goal) =>
    measured(what, value, unit, goal, { name: 'nginx', value: beside })
  const idle = daemon.memory()
  const rows = [row('index file, all cores', 'per second', await rate(INDEX), { atLeast: 0.4 })]
  for (const [what, size] of SIZES) {
    const [mine, other] = await rate(pathOf(size))
    const megabytes: [number, number] = [(mine * size) / 1e6, (other * size) / 1e6]
    rows.push(row(`.crate of ${what}`, 'MB/s', megabytes, { atLeast: 0.6 }))
  }
  const half = { name: 'after half of them', value: daemon.memory() }
  await rate(pathOf(10_000_000))
  const memory = daemon.memory()
  rows.push(
    measured('resident memory before downloads', idle, 'MiB'),
    measured('resident memory after downloads', memory, 'MiB', { atMost: 1.1 }, half),
  )
  const fetches = await alternately(
    pair,
    0.5,
    ({ port }) => {
      const registries = { bench: `sparse+http://127.0.0.1:${port}/index/` }
      return coldFetch(folder, { registries, cratesIo: null }, dependencies, CRATES)
    },
    FETCHES,
  )
  const what = `cold \`cargo fetch\` of ${CRATES} crates`
  return [...rows, row(what, 'ms', fetches, { atMost: 1.05 })]
}

/** Measures two servers in turn, and takes the same quantile of the figures of each. */
async function alternately(
  servers: readonly [Program, Program],
  part: number,
  work: (server: Program) => Promise<number> | number,
  rounds = 3,
): Promise<[number, number]> {
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    ours.push(await work(servers[0]))
    theirs.push(await work(servers[1]))
  }
  return [quantile(ours, part), quantile(theirs, part)]
}

/** Microseconds per answer of both; the least of three rounds: noise only adds to them. */
async function compare(
  folder: string,
  daemon: Program,
  answer: Omit<Answer, 'body'> & { readonly bytes: Buffer },
  load: Pick<Load, 'request' | 'connections'>,
): Promise<[number, number]> {
  const { bytes, ...head } = answer
  const [body, file] = [join(folder, 'body'), join(folder, 'answer.json')]
  writeFileSync(body, bytes)
  const full: Answer = { ...head, body: bytes.length > 0 ? body : null }
  writeFileSync(file, JSON.stringify(full))
  const yardstick = await Program.start(process.execPath, [ANSWER, file])
  try {
    return await alternately([daemon, yardstick], 0, async server => {
      const { micros, status } = await measure(server, load)
      if (status !== String(answer.status)) throw new Error(`the answer is ${status}`)
      return micros
    })
  } finally {
    await yardstick.stop()
  }
}

/** The headers of the content, without those that each connection adds itself. */
function ownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const added = new Set(['date', 'connection', 'keep-alive', 'content-length'])
  return Object.fromEntries(
    Object.entries(headers).flatMap(([key, value]) =>
      added.has(key) ? [] : [[key, String(value)] as const],
    ),
  )
}
