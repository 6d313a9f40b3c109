/**
 * Processor time of answers of this build next to another one, whose `cli.js`
 * `PLIMSOLL_BENCH_BESIDE` names: an index file, as Cargo asks for it, a page and a search. They take
 * turns of some hundred requests: what else the machine does changes a longer turn more than they
 * differ. `PLIMSOLL_BENCH_ROUNDS` is another number of rounds.
 */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Build, daemonOf, inRounds, registryOf } from './support/builds.ts'
import { type Program, spent } from './support/program.ts'
import { ask, publishAll, publishBody } from './support/publishing.ts'
import { bench } from './support/servers.ts'

const ROUNDS = Number(process.env.PLIMSOLL_BENCH_ROUNDS ?? 5)
const CONNECTIONS = 16
/** Requests of a turn, and turns of a round; those of the first round compile the code. */
const [TURN, TURNS] = [400, 20]
const PATHS = {
  'index file': '/index/de/mo/demo',
  'page of a crate': '/crates/demo/',
  search: '/api/v1/crates?q=demo&per_page=10',
} as const

await bench(async servers => {
  const daemons = new Map<Build, Program>()
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const units = Object.fromEntries(Object.keys(PATHS).map(what => [what, ['µs'] as const]))
  const turn = async ({ port }: Program, path: string) => {
    const client = async () => {
      for (let at = 0; at < TURN / CONNECTIONS; at++) await ask(port, agent, path)
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, client))
  }
  const rows = await inRounds(ROUNDS, units, async builds => {
    for (const build of builds) {
      if (daemons.has(build)) continue
      const dir = join(servers.folder, `registry-${daemons.size}`)
      const [token = ''] = registryOf(build, dir, 1)
      const daemon = await servers.stopping(daemonOf(build, dir))
      daemons.set(build, daemon)
      const versions = Array.from({ length: 30 }, (_, at) => publishBody('demo', `1.0.${at}`, 1000))
      await publishAll({ port: daemon.port, token }, versions, 1)
      // Lists and search files are rendered, and new files are not read again with each request.
      await sleep(13_000)
      await daemon.quiet()
    }
    const found = builds.map(() => ({}) as Record<string, number>)
    for (const [what, path] of Object.entries(PATHS))
      for (let at = 0; at < TURNS; at++)
        for (const [place, build] of builds.entries()) {
          const daemon = daemons.get(build)
          const figures = found[place]
          if (!daemon || !figures) throw new Error('no daemon')
          const before = daemon.usage()
          await turn(daemon, path)
          const micros = (spent(before, daemon.usage()) / TURN / TURNS) * 1000
          figures[what] = (figures[what] ?? 0) + micros
        }
    return found
  })
  agent.destroy()
  return rows
})
