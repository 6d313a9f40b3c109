/**
 * Publishing through one, two and three daemons on PostgreSQL and an S3 server, next to one daemon
 * on SQLite and files. They take turns. Daemons, servers and clients share the machine.
 */
import { join } from 'node:path'
import { initRegistry } from '../../generator/registry/registry.ts'
import type { TestServer } from '../support/postgres.ts'
import { environmentOf, type TestS3 } from '../support/s3/environment.ts'
import { Contender, type Outcome } from './support/contender.ts'
import type { Program } from './support/program.ts'
import { newRegistry } from './support/registry.ts'
import { bench, Servers } from './support/servers.ts'
import { type Measurement, measured } from './support/table.ts'

const ROUNDS = 4
const CLIENTS = 16
const MOST = 3
/** Publishes of a round by one client, and by all. */
const COUNTS = new Map([
  [1, 30],
  [CLIENTS, 144],
])
/** Publishes to each daemon before the first round: V8 compiles the hot code. */
const WARM = 300

const missing = Servers.missing()
if (missing !== null) {
  console.log(missing)
  process.exit()
}
await bench(async servers => {
  const [postgres, s3] = [await servers.postgres(), await servers.s3()]
  const own = await contender(servers, 1, 'files', { PLIMSOLL_GIT_INDEX: 'off' })
  const others: Contender[] = []
  for (let daemons = 1; daemons <= MOST; daemons++) {
    const env = await shared(daemons, postgres, s3)
    others.push(await contender(servers, daemons, `servers-${daemons}`, env))
  }
  for (const contender of [own, ...others])
    await contender.warm(CLIENTS, WARM * contender.programs.length)
  for (let round = 0; round < ROUNDS; round++)
    for (const contender of [own, ...others])
      for (const [clients, count] of COUNTS) await contender.measure(clients, count)
  return others.flatMap((contender, at) => rows(at + 1, contender, own))
})

/** The environment of daemons with a database and prefixes of their own. */
async function shared(number: number, postgres: TestServer, s3: TestS3) {
  const database = await postgres.create(`bench_${number}`)
  return {
    ...environmentOf(s3, {
      crates: `s3://test/crates-${number}`,
      public: `s3://test/public-${number}`,
    }),
    PLIMSOLL_DATABASE_URL: database,
    PLIMSOLL_REGISTRY_BASE_URL: 'https://crates.example',
    PLIMSOLL_GIT_INDEX: 'off',
  }
}

async function contender(
  servers: Servers,
  count: number,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<Contender> {
  const dir = (at: number) => join(servers.folder, `${name}-${at}`)
  const token = await newRegistry(dir(0), {}, env)
  for (let at = 1; at < count; at++) await initRegistry(dir(at), { env }, {})
  const daemons: Program[] = []
  for (let at = 0; at < count; at++) daemons.push(await servers.daemon(dir(at), env))
  return new Contender(daemons, { token })
}

function rows(daemons: number, contender: Contender, own: Contender): Measurement[] {
  const many = daemons === 1 ? 'one daemon' : `${daemons} daemons`
  const row = (clients: number, key: keyof Outcome, words: string, unit: string, part = 0.5) => {
    const value = (of: Contender) => of.value(clients, key, part)
    const who = clients === 1 ? 'one client' : `${clients} clients`
    const yardstick = { name: 'SQLite and files', value: value(own) }
    return measured(`${many}, ${who}: ${words}`, value(contender), unit, {}, yardstick)
  }
  const single =
    daemons > 1
      ? []
      : [
          row(1, 'times', 'median', 'ms'),
          row(1, 'untilAnswer', 'processor time until the answer', 'ms'),
          row(1, 'untilQuiet', 'processor time until all is quiet', 'ms'),
        ]
  return [
    ...single,
    row(CLIENTS, 'perSecond', 'publishes', 'per second'),
    row(CLIENTS, 'times', 'p95', 'ms', 0.95),
    row(CLIENTS, 'untilAnswer', 'processor time until the answer', 'ms'),
  ]
}
