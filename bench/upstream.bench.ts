/**
 * `cargo fetch` of 300 crates of an upstream that is 50 ms away, over plain HTTP/1.1: directly, and
 * through a registry that has none of them yet, and then all. Real Cargo, each time without caches.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cargo } from '../test/support/cargo.ts'
import { Cleanup } from '../test/support/cleanup.ts'
import { closeServer, listen } from '../test/support/loopback.ts'
import { MadeUpUpstream } from '../test/support/made-up-upstream.ts'
import { quantile } from '../test/support/measure.ts'
import { serve } from '../test/support/plimsoll.ts'
import { plimsollHere } from '../test/support/program.ts'
import { writeProject } from '../test/support/project.ts'
import { printTable } from './support/table.ts'

const CRATES = 300
const AWAY_MS = 50
const ROUNDS = 3

const ends: (() => Promise<void>)[] = []
const cleanup = new Cleanup({ after: end => void ends.push(end) })
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  const made = await MadeUpUpstream.start(cleanup)
  const away = await farAway(`${made}`)
  made.dl = `${away}/files/{crate}/{crate}-{version}.crate`
  for (let at = CRATES - 1; at >= 0; at--) {
    const needed = [at * 2 + 1, at * 2 + 2].filter(other => other < CRATES)
    const deps = Object.fromEntries(needed.map(other => [`public-${other}`, '1']))
    made.publish({ name: `public-${at}`, deps })
  }
  const times = { direct: [] as number[], cold: [] as number[], warm: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    const dir = join(folder, `registry-${round}`)
    await plimsollHere(['init', '--dir', dir])
    const daemon = await serve(cleanup, dir, {
      PLIMSOLL_UPSTREAM_UP_INDEX: `sparse+${away}/index/`,
    })
    const ours = `sparse+${daemon.url}/upstream/up/index/`
    times.direct.push(await fetched(`${round}-direct`, `sparse+${away}/index/`))
    times.cold.push(await fetched(`${round}-cold`, ours))
    times.warm.push(await fetched(`${round}-warm`, ours))
  }
  const direct = quantile(times.direct, 0.5)
  const row = (what: string, of: readonly number[], atMost: number) => ({
    what: `cargo fetch of ${CRATES} crates, ${what}`,
    value: quantile(of, 0.5),
    unit: 'ms',
    yardstick: { name: 'directly', value: direct },
    goal: { atMost },
  })
  printTable([row('none here yet', times.cold, 0.8), row('all here', times.warm, 0.3)])
} finally {
  for (const end of ends) await end()
  rmSync(folder, { recursive: true, force: true })
}

/** Has Cargo fetch everything with empty caches; returns the milliseconds. */
async function fetched(name: string, cratesIo: string): Promise<number> {
  const { folder: app } = writeProject(join(folder, name), {
    name: 'app',
    toml: '[dependencies]\npublic-0 = "1"',
  })
  const config = '[http]\nmultiplexing = false'
  const cargo = new Cargo(join(folder, `home-${name}`), { registries: {}, cratesIo, config })
  const began = performance.now()
  await cargo.ok(app, 'fetch')
  return performance.now() - began
}

/** Serves a server as if each answer took `AWAY_MS` longer. */
async function farAway(url: string): Promise<string> {
  const server = createServer(async (incoming, response) => {
    await sleep(AWAY_MS)
    const outgoing = request(`${url}${incoming.url}`, { headers: incoming.headers }, answer => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy()).end()
  })
  const address = await listen(server)
  cleanup.add(() => closeServer(server))
  return address
}
