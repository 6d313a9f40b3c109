/**
 * Three daemons on one PostgreSQL and one S3 server, under a mixed load of 16 clients, while
 * daemons are killed and stopped, cut off from the database or the bucket, and these fail. The
 * answers of each crate must have a sequential order; nothing acknowledged is lost or doubled;
 * after the faults all work is done within ten seconds, and `verify` finds nothing.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cleanup } from '../support/cleanup.ts'
import { startPostgres, type TestServer } from '../support/postgres.ts'
import { FakeS3 } from '../support/s3/server.ts'
import { BROWSER, Browser } from './cluster/browser.ts'
import { Clients, type Field, USERS } from './cluster/clients.ts'
import { Faults } from './cluster/faults.ts'
import { Gate } from './cluster/gate.ts'
import { Machine } from './cluster/machine.ts'
import { S3_HOST } from './cluster/resolver.ts'
import { drawEpisode } from './cluster/schedule.ts'
import { Work } from './cluster/work.ts'
import { ask } from './driver/api.ts'
import { checkTheChecker, isLinearizable, story } from './driver/history.ts'
import { Journal, type TrackedCrate } from './driver/journal.ts'
import { checksum } from './driver/lines.ts'
import type { Folder } from './program.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

const MACHINES = 3
const CLIENTS = 15
/** Milliseconds without faults between two episodes. */
const CALM_MS = 3000
/** In how many milliseconds after the last fault all index work is done; pages take longer. */
const DONE_MS = 10_000
const PAGES_MS = 120_000

/** When `verify` is asked again after it has found something, in milliseconds. */
const LATER_MS = 30_000

await chaos('cluster', { count: 1000, minutes: 10, options: ['public', 'slack'] }, async run => {
  checkTheChecker()
  // Time limits are multiplied by this, for a machine that others keep busy.
  const slack = Number(run.options.slack ?? 1)
  const most = DONE_MS * slack
  const { machines, s3, server } = await prepare(run)
  const tokens = await accounts(machines[0] as Machine)
  await Promise.all(machines.map(machine => machine.start(() => false)))
  const work = new Work(server.url('cluster'))
  const faults = new Faults(machines, { server, s3, work }, slack, run.random.fork())
  const journal = new Journal()
  let calm: number | null = null
  const field: Field = { machines, tokens, journal, calmSince: () => calm }
  const clients = new Clients(field)
  const browser = new Browser(clients, field, run.random.fork())
  const load = Promise.all([
    browser.work(),
    ...Array.from({ length: CLIENTS }, (_, at) => clients.work(`c${at}`, run.random.fork())),
  ])
  const failed = load.then(() => new Promise<never>(() => {}))
  let [episodes, crates] = [0, 0]
  let verdict = 'did not end'
  try {
    const goesOn = () => performance.now() < run.deadline && !clients.isOver
    for (; episodes < run.count && goesOn(); episodes++) {
      const episode = drawEpisode(run.random, MACHINES)
      await Promise.race([failed, faults.play(episode)])
      await Promise.race([failed, settled(machines, work, most)])
      calm = performance.now()
      await Promise.race([failed, sleep(CALM_MS)])
      crates += await Promise.race([failed, survey(journal.takeRetired(), clients, machines, most)])
      calm = null
    }
    clients.stop()
    await load
    await clients.looks()
    await settled(machines, work, most)
    await work.rest('everything', PAGES_MS * slack)
    crates += await survey(journal.takeRetired(true), clients, machines, most)
    await nothingLost(journal, clients, machines)
    await verify((machines[0] as Machine).folder)
    verdict = 'finds nothing'
    for (const machine of machines) await machine.terminate()
  } catch (error) {
    for (const machine of machines) console.log(machine.story('at the end'))
    throw error
  } finally {
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
    const looks = `${clients.looked}, after at most ${clients.longestLook.toFixed(0)} ms`
    const rows = {
      episodes,
      faults: faults.told,
      operations: `${clients.operations}, ${clients.refused} of them refused`,
      'no answer': clients.unanswered,
      'answered with 503': clients.away,
      'tokens made, used and revoked': `${browser.tokens}, ${browser.logins} logins`,
      'crates with a sequential order': crates,
      'acknowledged versions': sum(journal.subjects.map(crate => crate.acknowledged.size)),
      'seen through another daemon': looks,
      'older index files while something was broken': clients.older,
      'longest takeover after a kill': seconds(work.longestTakeover),
      'index work done after the last fault': `at most ${seconds(work.longestRest)}`,
      'pages done after the end': seconds(work.pages),
      verify: verdict,
      'failed starts while something was broken': sum(machines.map(each => each.failedStarts)),
    }
    for (const [name, value] of Object.entries(rows)) run.row(name, value)
  }
})

/** Fails unless `verify` finds nothing; tells whether its findings are still there later. */
async function verify(folder: Folder): Promise<void> {
  try {
    await folder.verify()
  } catch (error) {
    await sleep(LATER_MS)
    const later = await folder.verify().then(
      () => 'nothing',
      (again: unknown) => (again as Error).message,
    )
    const seconds = LATER_MS / 1000
    throw new Violation(`${(error as Error).message}\n${seconds} s later: ${later}`)
  }
}

/** The servers, and machines that reach them through gates. */
async function prepare(run: Run) {
  const server = await startPostgres()
  run.onEnd(() => server.close())
  await server.create('cluster')
  const s3 = await FakeS3.start(new Cleanup({ after: step => run.onEnd(step) }))
  const shared = join(run.folder, 'shared')
  mkdirSync(shared)
  const machines: Machine[] = []
  let port = 0
  for (let at = 0; at < MACHINES; at++) {
    const database = new Gate({ path: socketOf(server) })
    const bucket = new Gate({ host: '127.0.0.1', port: Number(new URL(s3.url).port) })
    const address = `127.0.0.${at + 2}`
    port = await bucket.listen(address, port)
    const env = {
      ...s3.env({
        crates: 's3://test/crates',
        public: run.options.public === 'bucket' ? 's3://test/public' : join(shared, 'public'),
        endpoint: `http://${S3_HOST}:${port}`,
      }),
      CHAOS_S3_ADDRESS: address,
      PLIMSOLL_DATABASE_URL: `postgres://plimsoll@127.0.0.1:${await database.listen('127.0.0.1')}/cluster`,
      PLIMSOLL_API_ERROR_STATUS: 'http',
      PLIMSOLL_AUTH_PASSWORD_COST: '14',
      PLIMSOLL_GIT_INDEX: 'off',
      PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '0',
      PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '0',
      PLIMSOLL_LIMITS_TOKENS_PER_USER: '1000000',
    }
    const dir = join(run.folder, `machine-${at + 1}`)
    const machine = new Machine(`daemon ${at + 1}`, { dir, env, database, bucket })
    run.onEnd(() => machine.end())
    await machine.folder.run('init')
    machines.push(machine)
  }
  return { machines, s3, server }
}

function socketOf(server: TestServer): string {
  return join(new URL(server.url('postgres')).searchParams.get('host') ?? '', '.s.PGSQL.5432')
}

/** Users with tokens, and one with a password. */
async function accounts({ folder }: Machine): Promise<Map<string, string>> {
  await folder.run('user', 'add', 'alice')
  const tokens = new Map<string, string>()
  for (const user of USERS) {
    await folder.run('user', 'add', user)
    tokens.set(user, (await folder.run('token', 'create', '--user', user)).trim())
  }
  const adding = folder.start(['user', 'add', BROWSER.login, '--password-stdin'])
  adding.child.stdin?.end(`${BROWSER.password}\n`)
  await adding.result()
  return tokens
}

/** Waits until all faults are over, at most the promised time. */
async function settled(machines: readonly Machine[], work: Work, most: number): Promise<void> {
  const began = performance.now()
  const ready = async (machine: Machine) => {
    while (!(await machine.isReady())) {
      machine.ensureAlive()
      const waited = performance.now() - began
      ensure(
        waited < most,
        machine.story(`is not ready ${waited.toFixed(0)} ms after the last fault`),
      )
      await sleep(100)
    }
  }
  await Promise.all([work.rest('urgent', most), ...machines.map(ready)])
  console.log(
    `  all done ${((performance.now() - began) / 1000).toFixed(1)} s after the last fault`,
  )
}

/** Reads crates for the last time; fails unless their histories have an order. */
async function survey(
  subjects: readonly TrackedCrate[],
  clients: Clients,
  machines: readonly Machine[],
  most: number,
): Promise<number> {
  for (const [at, subject] of subjects.entries()) {
    const [here, there] = [machines[at % MACHINES], machines[(at + 1) % MACHINES]] as [
      Machine,
      Machine,
    ]
    const last = { client: 'last', user: null, about: '' }
    await clients.record(here, subject, { ...last, what: 'owners' })
    const lines = await clients.agreed(subject, here, there, most)
    ensure(isLinearizable(subject.history), story(subject.name, subject.history))
    for (const { vers, cksum } of lines) {
      const reply = await ask(`${there.url}/crates/${subject.name}/${subject.name}-${vers}.crate`)
      ensure(
        reply?.status === 200,
        `${there.name} answers ${subject.name} ${vers} with ${reply?.status}`,
      )
      ensure(checksum(reply.bytes) === cksum, `${subject.name} ${vers} has other bytes`)
    }
  }
  return subjects.length
}

/** Fails unless every acknowledged version is in the index through every daemon. */
async function nothingLost(
  journal: Journal,
  clients: Clients,
  machines: readonly Machine[],
): Promise<void> {
  for (const machine of machines)
    for (const subject of journal.subjects) {
      const lines = await clients.index(machine, subject)
      ensure(lines, `${machine.name} does not answer`)
      const missing = subject.missing(lines, Number.POSITIVE_INFINITY)
      ensure(missing.length === 0, `${machine.name} has lost ${subject.name} ${missing}`)
    }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
