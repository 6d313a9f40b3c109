import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { createApp } from '../daemon/app.ts'
import { listen } from '../daemon/http/listen.ts'
import { Metrics } from '../daemon/metrics.ts'
import { IndexWorker } from '../daemon/workers/index-worker.ts'
import { initRegistry, openRegistry } from '../generator/registry.ts'
import { writeDurably } from '../generator/store/durable-file.ts'
import { measure, type Outcome, requestText } from './support/load.ts'

/**
 * Requests per second of reading: the daemon, one process, against plain `node:http` that answers
 * the same bytes and headers from memory. The load comes from a process beside it, 16 connections,
 * each waiting for its answer.
 */
const TIMES = { connections: 16, warmMs: 200, measureMs: 500 }
const ROUNDS = 3

const line = (i: number) =>
  `{"name":"demo","vers":"1.0.${i}","deps":[{"name":"serde","req":"^1","features":[],"optional":false,"default_features":true,"target":null,"kind":"normal","registry":null,"package":null}],"cksum":"${createHash('sha256').update(String(i)).digest('hex')}","features":{},"yanked":false,"pubtime":"2026-11-20T12:00:00Z"}\n`
const index = Buffer.from(Array.from({ length: 30 }, (_, i) => line(i)).join(''))
const crate = Buffer.alloc(40_000, 'plimsoll')

const cargo = { 'user-agent': 'cargo/1.95.0 (f2d3ce0bd 2026-03-21)' }
const asks = { ...cargo, 'cargo-protocol': 'version=1', accept: 'text/plain' }
const h2c = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
}

const dir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  await initRegistry(dir, { env: {} }, {})
  const registry = await openRegistry(dir, { env: {} })
  await writeDurably(registry.tree.path('index/de/mo/demo'), index)
  await writeDurably(registry.tree.path('crates/demo/demo-1.0.0.crate'), crate)
  // What has just been written is read again with each request; see `FileCache`.
  await sleep(2100)
  const log = pino({ level: 'info' }, pino.destination(2))
  const indexWorker = new IndexWorker(registry, error => log.error(error))
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    onTlsFailure: refusal => log.error(refusal),
  })
  server.answer(
    createApp({
      registry,
      indexWorker,
      clock: () => new Date(),
      log,
      metrics: new Metrics(registry),
      git: null,
    }).fetch,
  )
  const daemon = Number(new URL(server.url).port)
  const { etag, zipped } = await check(server.url)

  const text = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache', etag }
  await compare('index file, 200', daemon, text, index, '/index/de/mo/demo', asks)
  const gzip = { ...text, 'content-encoding': 'gzip', vary: 'accept-encoding' }
  const accepts = { ...asks, 'accept-encoding': 'deflate, gzip' }
  await compare('index file, gzip', daemon, gzip, zipped, '/index/de/mo/demo', accepts)
  await compare('the same, with h2c offered', daemon, gzip, zipped, '/index/de/mo/demo', {
    ...accepts,
    ...h2c,
  })
  await compare('index file, 304', daemon, text, null, '/index/de/mo/demo', {
    ...accepts,
    'if-none-match': etag,
  })
  const bytes = {
    'content-type': 'application/gzip',
    'cache-control': 'public, max-age=31536000, immutable',
    etag,
  }
  await compare('.crate of 40 kB', daemon, bytes, crate, '/crates/demo/demo-1.0.0.crate', cargo)

  await server.stop(1)
  await indexWorker.close()
  await registry.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** The answers are what they should be before they are counted. */
async function check(url: string): Promise<{ etag: string; zipped: Buffer }> {
  const answer = await fetch(`${url}/index/de/mo/demo`, {
    headers: { 'accept-encoding': 'identity' },
  })
  if (!Buffer.from(await answer.arrayBuffer()).equals(index))
    throw new Error('the index file is not what was written')
  const etag = answer.headers.get('etag')
  if (!etag) throw new Error('the index file has no ETag')
  return { etag, zipped: gzipSync(index) }
}

async function compare(
  what: string,
  daemon: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer | null,
  path: string,
  asked: Readonly<Record<string, string>>,
): Promise<void> {
  const plain = createServer((_, response) => {
    if (body) response.writeHead(200, { ...headers, 'content-length': body.length }).end(body)
    else response.writeHead(304, headers).end()
  })
  const yardstick = await listening(plain)
  const request = requestText(path, asked)
  const [raw, ours]: [Outcome[], Outcome[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    raw.push(await measure({ port: yardstick, request, ...TIMES }))
    ours.push(await measure({ port: daemon, request, ...TIMES }))
  }
  plain.close()
  const [a, b] = [best(raw), best(ours)]
  const [ratio, cpuRatio] = [b.perSecond / a.perSecond, a.micros / b.micros].map(one =>
    one.toFixed(2),
  )
  const [plainly, here] = [a, b].map(
    one =>
      `${Math.round(one.perSecond)}/s ${Math.round(one.micros)} µs (${one.status}, ${one.bytesPerAnswer} B)`,
  )
  console.log(
    `${what.padEnd(26)} node:http ${plainly}  daemon ${here}  ratio ${ratio}, by processor time ${cpuRatio}`,
  )
}

/** The best of several rounds: what else runs on the machine can only make it worse. */
function best(outcomes: readonly Outcome[]): Outcome {
  const [first] = outcomes
  if (!first) throw new Error('no rounds')
  const perSecond = Math.max(...outcomes.map(one => one.perSecond))
  return { ...first, perSecond, micros: Math.min(...outcomes.map(one => one.micros)) }
}

function listening(server: Server): Promise<number> {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
