/**
 * The cost of crates with 5,000 features for everybody else: the lag of the daemon's event loop
 * while 8 users publish such crates and 16 clients read them. `PLIMSOLL_BENCH_VERSIONS` is the
 * number of versions of each crate.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildCrate } from '../support/crate-builder.ts'
import { quantile } from '../support/measure.ts'
import { encodePublish, ownDependency, plainMetadata } from '../support/release.ts'
import { ask, publishAll, publishBody } from './support/publishing.ts'
import { addToken, newRegistry } from './support/registry.ts'
import { bench } from './support/servers.ts'
import { measured } from './support/table.ts'

const PUBLISHERS = 8
const READERS = 16
const FEATURES = 5000
const VERSIONS = Number(process.env.PLIMSOLL_BENCH_VERSIONS ?? 12)

const names = Array.from({ length: PUBLISHERS }, (_, at) => `wide-${at}`)

await bench(async servers => {
  const home = join(servers.folder, 'registry')
  const token = await newRegistry(home)
  const tokens: string[] = []
  for (const login of names) tokens.push(await addToken(home, login))
  const turnFile = join(servers.folder, 'turns.json')
  const hook = fileURLToPath(new URL('support/turn-times.js', import.meta.url))
  const env = { NODE_OPTIONS: `--import=${hook}`, TURN_TIMES: turnFile }
  const daemon = await servers.daemon(home, env)
  const { port } = daemon
  /** Each user publishes versions of one crate. */
  const publishWide = async (versions: readonly string[]) => {
    const each = names.map((name, at) => {
      const bodies = versions.map(version => wideBody(port, name, version))
      return publishAll({ port, token: tokens[at] ?? '' }, bodies, 1)
    })
    return (await Promise.all(each)).flat()
  }
  await publishAll({ port, token }, [publishBody('hub', '1.0.0', 1000)], 1)
  await publishWide(['0.1.0'])
  await daemon.quiet()
  await lateness(port)
  process.kill(daemon.pid, 'SIGUSR2')
  const latencies: number[] = []
  const published = await beside(port, latencies, () =>
    publishWide(Array.from({ length: VERSIONS - 1 }, (_, at) => `0.1.${at + 1}`)),
  )
  const late = await lateness(port)
  await daemon.quiet()
  await daemon.stop()
  const turns = JSON.parse(readFileSync(turnFile, 'utf8')) as { p99: number }
  const times = published.map(publish => publish.took)
  return [
    measured('delay of the event loop, p99', late, 'ms', { atMost: 50 }),
    measured('its processor time, p99', turns.p99, 'ms', { atMost: 50 }),
    measured('a publish, p95', quantile(times, 0.95), 'ms', { atMost: 3000 }),
    measured('a read, p99', quantile(latencies, 0.99), 'ms', { atMost: 1000 }),
  ]
})

/** A publish of a crate with many features that depends on the hub. */
function wideBody(port: number, name: string, version: string): Uint8Array {
  const features = Object.fromEntries(
    Array.from({ length: FEATURES }, (_, at) => [
      `Win32_Feature_${at}`,
      at === 0 ? [] : [`Win32_Feature_${at - 1}`],
    ]),
  )
  const lines = Object.entries(features).map(([name, list]) => `${name} = ${JSON.stringify(list)}`)
  const hub = ownDependency('hub', { index: `sparse+http://127.0.0.1:${port}/index/` })
  const manifest = `${hub.manifest}[features]\n${lines.join('\n')}`
  const metadata = { ...plainMetadata(name, version), deps: [hub.metadata], features }
  return encodePublish(metadata, buildCrate({ name, version, manifest }))
}

/** Reads on 16 connections while `work` goes on; notes how long each answer takes. */
async function beside<T>(port: number, latencies: number[], work: () => Promise<T>): Promise<T> {
  const paths = names.flatMap(name => [
    `/api/v1/crates/${name}`,
    `/api/v1/crates/${name}/versions`,
    `/api/v1/crates/${name}/0.1.0`,
    `/api/v1/crates/${name}/0.1.0/dependencies`,
    '/api/v1/crates/hub/reverse_dependencies',
    `/crates/${name}/`,
    `/api/v1/crates?q=${name}`,
  ])
  const agent = new Agent({ keepAlive: true })
  let isOver = false
  const reader = async (from: number) => {
    for (let at = from; !isOver; at++)
      latencies.push(await ask(port, agent, paths[at % paths.length] ?? ''))
  }
  const readers = Array.from({ length: READERS }, (_, at) => reader(at * 3))
  const result = await work()
  isOver = true
  await Promise.all(readers)
  agent.destroy()
  return result
}

/** The p99 of how late the event loop was since `/metrics` was last asked, in milliseconds. */
async function lateness(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1]) * 1000
}
