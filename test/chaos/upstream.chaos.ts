/**
 * An upstream that is away, slow or wrong, cuts its answers, sends older files, edits lines, publishes
 * versions anew, yanks them and loses them, beside clients that are fresh, locked and without a
 * cache, and beside another process on the same files. No wrong byte is stored or served, a line
 * changes only in `yanked`, no older file follows a newer one, no locked build that once worked
 * breaks, and no own name arrives at the upstream.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseName } from '../../core/name.ts'
import { sha256 } from '../../core/sha256.ts'
import { timestamp } from '../../core/timestamp.ts'
import { openUpstreams } from '../../generator/upstream/open.ts'
import { Cleanup } from '../support/cleanup.ts'
import { MadeUpUpstream, type UpstreamFault } from '../support/made-up-upstream.ts'
import { Random } from '../support/random.ts'
import { TestRegistry } from '../support/registry.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'
import { revisionOf, Shelf } from './upstream/shelf.ts'
import { Visitors } from './upstream/visitors.ts'

const CRATES = ['alpha', 'beta', 'gamma']
const ROUNDS = 15
const CLIENTS = 6
const LIMITS = { pause: 1, silenceMs: 60, waitMs: 80, requestMs: 100, crateMax: 10_000 }

await chaos('upstream', { count: 200, minutes: 15 }, async run => {
  const sums = new Map<string, number>()
  let seeds = 0
  for (; seeds < run.count && performance.now() < run.deadline; seeds++) {
    const seed = run.seed + seeds
    try {
      for (const [what, count] of await play(run, new Random(seed)))
        sums.set(what, (sums.get(what) ?? 0) + count)
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      throw new Violation(`seed ${seed}: ${error.message}`)
    }
    if (seeds % 20 === 19) console.log(`  ${seeds + 1} seeds`)
  }
  run.row('seeds', seeds)
  for (const [what, count] of [...sums].sort()) run.row(what, count)
})

async function play(run: Run, random: Random): Promise<Map<string, number>> {
  const ends: (() => Promise<void>)[] = []
  try {
    const after = (end?: unknown) => void ends.push(end as () => Promise<void>)
    const made = await MadeUpUpstream.start(new Cleanup({ after }))
    return await withUpstream(made, { after }, run.folder, random)
  } finally {
    for (const end of ends) await end()
  }
}

async function withUpstream(
  made: MadeUpUpstream,
  t: { readonly after: (end?: unknown) => void },
  parent: string,
  random: Random,
): Promise<Map<string, number>> {
  const env = {
    PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
    PLIMSOLL_UPSTREAM_UP_FALLBACK: 'serve',
    PLIMSOLL_UPSTREAM_UP_HOLD: random.pick(['0', '1h']),
    PLIMSOLL_POLICY_RESERVED_PREFIXES: 'team-',
  }
  const registry = await TestRegistry.open(t, { env, limits: LIMITS, parent })
  await registry.publish(await registry.user('alice'), { name: 'ours', version: '1.0.0' })
  const other = await openUpstreams(registry.registry, { env, limits: LIMITS })
  new Cleanup(t).add(() => other.close())
  const visitors = new Visitors(async path => registry.app.request(path), made)
  const shelves = CRATES.map(name => new Shelf(made, name, random))
  for (const shelf of shelves) {
    for (let version = 0; version < 3; version++) shelf.publish('2026-10-01T00:00:00Z')
    shelf.write()
  }
  /** The index file as another process shows it. */
  const beside = async (shelf: Shelf) => {
    const before = visitors.seen('beside', shelf.name)
    const upstream = other.byName.get('up')
    const file = await upstream?.indexFile(parseName(shelf.name)).catch(() => null)
    if (file) visitors.look('beside', shelf.name, before, file.file.bytes.toString())
    else ensure(before.versions.size === 0, `beside: ${shelf.name} is gone`)
  }
  const client = async (choices: Random) => {
    const shelf = choices.pick(shelves)
    const locks = visitors.locks.filter(({ name }) => name === shelf.name)
    if (choices.chance(0.2)) await visitors.own(choices)
    if (choices.chance(0.2)) await beside(shelf)
    else if (locks.length === 0 || choices.chance(0.4)) await visitors.fresh(shelf, choices)
    else await visitors.locked(shelf, choices.pick(locks), choices)
  }
  for (let round = 0; round < ROUNDS; round++) {
    registry.now = new Date(registry.now.getTime() + random.between(0, 30) * 1000)
    const trouble = random.pick([0, 0.1, 0.5])
    made.isAway = random.chance(0.1)
    made.fault = url => (random.chance(trouble) ? faultFor(url, shelves, random) : null)
    const clients = Array.from({ length: CLIENTS }, () => client(random.fork()))
    const pubtime = timestamp(registry.now)
    const changes = async () => {
      for (const shelf of shelves) {
        await sleep(random.below(5))
        if (random.chance(0.5)) shelf.change(pubtime)
      }
    }
    await Promise.all([...clients, changes()])
  }
  await settleDown(made, registry, visitors, shelves, random)
  visitors.count('requests at upstreams', made.requests.all.length)
  const { counts } = registry.upstreams.byName.get('up')?.source ?? {}
  for (const [kind, count] of counts?.alarms ?? []) visitors.count(`alarms: ${kind}`, count)
  return visitors.counts
}

/** When all is well again, everything is as the upstream has it, and every locked build works. */
async function settleDown(
  made: MadeUpUpstream,
  registry: TestRegistry,
  visitors: Visitors,
  shelves: readonly Shelf[],
  random: Random,
): Promise<void> {
  made.isAway = false
  made.fault = () => null
  registry.now = new Date(registry.now.getTime() + 3_600_000)
  for (const shelf of shelves) {
    const lines = await visitors.index(shelf, random)
    const revision = lines && revisionOf(lines)
    if (!shelf.isGone)
      ensure(revision === shelf.revision, `${shelf.name} stays at ${revision} of ${shelf.revision}`)
    for (const lock of visitors.locks.filter(({ name }) => name === shelf.name))
      await visitors.locked(shelf, lock, random)
  }
  const folder = join(registry.dir, 'upstream', 'up', 'crates')
  const files = visitors.locks.length > 0 ? readdirSync(folder) : []
  for (const file of files) {
    const cksum = sha256(readFileSync(join(folder, file)))
    ensure(file.endsWith(`-${cksum}.crate`), `${file} has the bytes of ${cksum}`)
  }
  visitors.count('.crate files', files.length)
}

/** Chooses what is sent instead of a file. */
function faultFor(url: string, shelves: readonly Shelf[], random: Random): UpstreamFault {
  const shelf = shelves.find(({ path }) => path === url)
  const faults: (() => UpstreamFault)[] = [
    () => ({ status: random.pick([403, 429, 500, 503]) }),
    () => ({ status: 200, body: '<html>Please log in</html>' }),
    () => ({ status: 200, body: random.bytes(500) }),
    () => ({ stopsAfter: random.below(300), hangsUp: true }),
    () => ({ stopsAfter: random.below(300), resumes: sleep(random.below(100)) }),
    () => ({ stopsAfter: random.below(300) }),
    () => ({ status: 302, headers: { location: `http://localhost${url}` } }),
    () => ({ body: 'x'.repeat(100_000), isEndless: true }),
    ...(shelf ? [() => shelf.older(), () => shelf.older()] : []),
  ]
  return random.pick(faults)()
}
