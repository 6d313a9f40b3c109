/**
 * The cost of crates with 5,000 features for everybody else: the lag of the daemon's event loop
 * while 8 users publish such crates and 16 clients read them. `PLIMSOLL_BENCH_VERSIONS` is the
 * number of versions of each crate.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildCrate } from '../test/support/crate-builder.ts'
import { quantile } from '../test/support/measure.ts'
import { encodePublish, plainMetadata } from '../test/support/release.ts'
import { ownEnvironment } from './support/program.ts'
import { type Publish, publishAll, publishBody } from './support/publishing.ts'
import { CLI, newRegistry, startDaemon } from './support/registry.ts'
import { printTable } from './support/table.ts'

const PUBLISHERS = 8
const READERS = 16
const FEATURES = 5000
const VERSIONS = Number(process.env.PLIMSOLL_BENCH_VERSIONS ?? 12)

const names = Array.from({ length: PUBLISHERS }, (_, at) => `wide-${at}`)
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
const token = await newRegistry(folder)
const tokens = names.map(login => {
  command('user', 'add', login)
  return command('token', 'create', '--user', login).trim()
})
const turnFile = join(folder, 'turns.json')
const hook = fileURLToPath(new URL('support/turn-times.js', import.meta.url))
const daemon = await startDaemon(folder, {
  NODE_OPTIONS: `--import=${hook}`,
  TURN_TIMES: turnFile,
})
const { port } = daemon
const agent = new Agent({ keepAlive: true })
try {
  await publishAll({ port, token }, [publishBody('hub', '1.0.0', 1000)], 1)
  await publishWide(['0.1.0'])
  await daemon.quiet()
  await read('/metrics')
  process.kill(daemon.pid, 'SIGUSR2')
  const latencies: number[] = []
  const before = daemon.usage()
  const begin = performance.now()
  const published = await beside(latencies, () =>
    publishWide(Array.from({ length: VERSIONS - 1 }, (_, at) => `0.1.${at + 1}`)),
  )
  const late = await lateness()
  const seconds = (performance.now() - begin) / 1000
  await daemon.quiet()
  const { own } = daemon.usage()
  await daemon.stop()
  const turns = JSON.parse(readFileSync(turnFile, 'utf8')) as { p99: number; max: number }
  const times = published.map(publish => publish.took)
  printTable([
    { what: 'delay of the event loop, p99', value: late.p99, unit: 'ms', goal: { atMost: 50 } },
    { what: 'the same, the longest', value: late.max, unit: 'ms' },
    { what: 'its processor time, p99', value: turns.p99, unit: 'ms', goal: { atMost: 50 } },
    { what: 'the same, the longest', value: turns.max, unit: 'ms' },
    { what: 'a publish, p95', value: quantile(times, 0.95), unit: 'ms', goal: { atMost: 3000 } },
    { what: 'a read, p99', value: quantile(latencies, 0.99), unit: 'ms', goal: { atMost: 1000 } },
  ])
  console.log(
    `  ${latencies.length} reads and ${times.length} publishes in ${seconds.toFixed(1)} s, ${((own - before.own) / 1000).toFixed(1)} s of processor time until quiet`,
  )
} finally {
  agent.destroy()
  await daemon.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function command(...args: string[]): string {
  const env = ownEnvironment()
  return execFileSync(process.execPath, [CLI, ...args, '--dir', folder], { encoding: 'utf8', env })
}

/** Each user publishes versions of one crate. */
async function publishWide(versions: readonly string[]): Promise<Publish[]> {
  const each = names.map((name, at) => {
    const bodies = versions.map(version => wideBody(name, version))
    return publishAll({ port, token: tokens[at] ?? '' }, bodies, 1)
  })
  return (await Promise.all(each)).flat()
}

/** A publish of a crate with many features that depends on the hub. */
function wideBody(name: string, version: string): Uint8Array {
  const features = Object.fromEntries(
    Array.from({ length: FEATURES }, (_, at) => [
      `Win32_Feature_${at}`,
      at === 0 ? [] : [`Win32_Feature_${at - 1}`],
    ]),
  )
  const lines = Object.entries(features).map(([name, list]) => `${name} = ${JSON.stringify(list)}`)
  const index = `sparse+http://127.0.0.1:${port}/index/`
  const manifest = `[dependencies.hub]\nversion = "^1"\nregistry-index = "${index}"\n[features]\n${lines.join('\n')}`
  const hub = { name: 'hub', version_req: '^1', optional: false, kind: 'normal' }
  const deps = [{ ...hub, features: [], default_features: true, target: null, registry: null }]
  const metadata = { ...plainMetadata(name, version), deps, features }
  return encodePublish(metadata, buildCrate({ name, version, manifest }))
}

/** Reads on 16 connections while `work` goes on; notes how long each answer takes. */
async function beside<T>(latencies: number[], work: () => Promise<T>): Promise<T> {
  const paths = names.flatMap(name => [
    `/api/v1/crates/${name}`,
    `/api/v1/crates/${name}/versions`,
    `/api/v1/crates/${name}/0.1.0`,
    `/api/v1/crates/${name}/0.1.0/dependencies`,
    '/api/v1/crates/hub/reverse_dependencies',
    `/crates/${name}/`,
    `/api/v1/crates?q=${name}`,
  ])
  let isOver = false
  const reader = async (from: number) => {
    for (let at = from; !isOver; at++) {
      const start = performance.now()
      await read(paths[at % paths.length] ?? '')
      latencies.push(performance.now() - start)
    }
  }
  const readers = Array.from({ length: READERS }, (_, at) => reader(at * 3))
  const result = await work()
  isOver = true
  await Promise.all(readers)
  return result
}

/** How late the event loop was since `/metrics` was last asked, in milliseconds. */
async function lateness(): Promise<{ readonly p99: number; readonly max: number }> {
  const text = await read('/metrics')
  const [p99, max] = ['p99', 'max'].map(which => {
    const row = new RegExp(`^nodejs_eventloop_lag_${which}_seconds (\\S+)`, 'm').exec(text)
    return Number(row?.[1]) * 1000
  })
  return { p99: p99 ?? Number.NaN, max: max ?? Number.NaN }
}

function read(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ port, path, agent }, async answer => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      if (answer.statusCode === 200) resolve(Buffer.concat(chunks).toString())
      else reject(new Error(`${path}: ${answer.statusCode}`))
    }).on('error', reject)
  })
}
