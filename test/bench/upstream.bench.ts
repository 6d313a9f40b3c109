/**
 * `cargo fetch` of 300 crates of an upstream that is 50 ms away, over plain HTTP/1.1: directly, and
 * through a registry that has none of them yet, and then all. Real Cargo, each time without caches.
 */
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { initRegistry } from '../../generator/registry/registry.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { closeServer, listen } from '../support/loopback.ts'
import { MadeUpUpstream } from '../support/made-up-upstream.ts'
import { quantile } from '../support/measure.ts'
import { coldFetch } from './read/cargo-fetch.ts'
import { bench } from './support/servers.ts'
import { measured } from './support/table.ts'

const CRATES = 300
const AWAY_MS = 50
const ROUNDS = 3

await bench(async servers => {
  const { folder, cleanup } = servers
  const made = await MadeUpUpstream.start(cleanup)
  const away = await farAway(cleanup, `${made}`)
  made.dl = `${away}/files/{crate}/{crate}-{version}.crate`
  for (let at = CRATES - 1; at >= 0; at--) {
    const needed = [at * 2 + 1, at * 2 + 2].filter(other => other < CRATES)
    const deps = Object.fromEntries(needed.map(other => [`public-${other}`, '1']))
    made.publish({ name: `public-${at}`, deps })
  }
  const fetched = (cratesIo: string) => {
    const config = '[http]\nmultiplexing = false'
    return coldFetch(folder, { registries: {}, cratesIo, config }, ['public-0'], CRATES)
  }
  const index = `sparse+${away}/index/`
  const times = { direct: [] as number[], cold: [] as number[], warm: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    const dir = join(folder, `registry-${round}`)
    await initRegistry(dir, { env: {} }, {})
    const daemon = await servers.daemon(dir, { PLIMSOLL_UPSTREAM_UP_INDEX: index })
    const ours = `sparse+http://127.0.0.1:${daemon.port}/upstream/up/index/`
    times.direct.push(await fetched(index))
    times.cold.push(await fetched(ours))
    times.warm.push(await fetched(ours))
  }
  const direct = { name: 'directly', value: quantile(times.direct, 0.5) }
  const row = (what: string, of: readonly number[], atMost: number) =>
    measured(
      `cargo fetch of ${CRATES} crates, ${what}`,
      quantile(of, 0.5),
      'ms',
      { atMost },
      direct,
    )
  return [row('none here yet', times.cold, 0.8), row('all here', times.warm, 0.3)]
})

/** Serves a server as if each answer took `AWAY_MS` longer. */
async function farAway(cleanup: Cleanup, url: string): Promise<string> {
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
