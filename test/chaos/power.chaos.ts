/**
 * Proves the order of syncs. `strace` records every file operation of a real daemon and of commands
 * under load, SQLite's included, with the moments of their acknowledgements. Then the power is cut
 * at thousands of moments: data that was not on disk by then is lost, there, or there in part. A
 * registry must open and build from the rest; `verify` must find nothing, and every acknowledged
 * change must be there with its bytes.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openRegistry } from '../../generator/open.ts'
import { build } from '../../generator/pages/build.ts'
import { buildPages } from '../../generator/pages/pages.ts'
import { verifyCrates } from '../../generator/verify/crates.ts'
import { verify } from '../../generator/verify/verify.ts'
import { Random } from '../support/random.ts'
import { crateBytes } from './driver/lines.ts'
import { type Cut, cutPower } from './power/cut.ts'
import { Disk, type Skips } from './power/disk.ts'
import { type DatedPromise, dated, ensurePromises } from './power/history.ts'
import { Client, Recording } from './power/recording.ts'
import { type Call, readCalls } from './power/strace.ts'
import { Folder, Program } from './program.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

/** The folder of disks: in memory, where a sync costs nothing. */
const MEMORY = '/dev/shm'
/** After this many cuts, one renders the pages, or runs the real program. */
const PAGES_EVERY = 10
const PROGRAM_EVERY = 50
const PROGRAM_EVERY_WITH_GIT = 10
/** The syncs that are left out to see that this is found. */
const FAULTS: Readonly<Record<string, Skips>> = {
  'bytes of .crate files': ({ path }) => path.includes('/crates/incoming/'),
  'names of .crate files': ({ path, isFolder }) => isFolder && path.includes('/registry/crates'),
  'write-ahead log': ({ path }) => path.endsWith('.db-wal'),
}
/** A run with fewer cuts says nothing; on a busy machine recording may take all of its minutes. */
const CUTS_MIN = 20

/** Most cuts until a fault is found. */
const FAULT_CUTS = 300

const memory = existsSync(MEMORY) ? { parent: MEMORY } : {}
await chaos(
  'power',
  { count: 2000, minutes: 60, ...memory, options: ['changes', 'git'] },
  async run => {
    const env = environment(run)
    const recording = new Recording(run.folder, env)
    run.onEnd(() => recording.end())
    await load(recording, run, Number(run.options.changes ?? 12))
    const calls = await readCalls(recording.trace)
    rmSync(recording.trace)
    const disk = new Disk(recording.registry)
    disk.take(calls)
    const promises = dated(recording.promises, disk)
    const bytes = disk.files.flatMap(file => file.changes)
    run.row('acknowledged changes', promises.length)
    run.row('recorded', `${bytes.length} writes, ${disk.names.length} names, ${disk.syncs} syncs`)
    console.log(`  recorded ${promises.length} changes in ${calls.length} calls`)
    await cutOften(run, disk, promises, calls)
    await plantFaults(run, recording, calls)
  },
)

/** `--git on` records the git index, too. */
function environment(run: Run): { readonly PLIMSOLL_GIT_INDEX: string } {
  return { PLIMSOLL_GIT_INDEX: run.options.git ?? 'off' }
}

/** Git itself counts on the order of names: it syncs a ref after its pack, but not their folders. */
function isOrdered(run: Run): boolean {
  return environment(run).PLIMSOLL_GIT_INDEX === 'on'
}

/** The life that is recorded: two daemons, one after the other, with clients and commands. */
async function load(recording: Recording, run: Run, changes: number): Promise<void> {
  const made = (name: string) => {
    const folder = join(run.folder, name)
    mkdirSync(folder)
    writeFileSync(join(folder, `${name}-1.0.0.crate`), crateBytes(name, '1.0.0'))
    return folder
  }
  await recording.run(['init'])
  await recording.run(['user', 'add', 'alice'])
  await recording.run(['user', 'add', 'bob'])
  const words = ['token', 'create', '--user', 'alice', '--name', 'first']
  const number = await recording.run(words, { what: 'token', name: 'first' })
  const token = await recording.says(number, /^(\S{20,})$/m)
  for (const life of [0, 1]) {
    const daemon = recording.start('serve', '--listen', '127.0.0.1:0')
    const url = await recording.says(daemon, /^listening on (\S+?)\/?$/m)
    const clients = Array.from({ length: life === 0 ? 6 : 3 }, (_, number) =>
      new Client(recording, url, token).work(life, number, changes, run.random.fork()),
    )
    const commands = async () => {
      const [name, other, about] = [`p-command-${life}`, `p-import-${life}`, '1.0.0']
      await recording.run(['add', made(name)], { what: 'publish', name, about })
      await recording.run(['yank', `${name}@1.0.0`], { what: 'yank', name, about })
      const words = ['import', made(other), '--as', 'crates']
      await recording.run(words, { what: 'publish', name: other, about })
      if (life === 1) await recording.run(['build', '--all'])
    }
    await Promise.all([...clients, commands()])
    await recording.stop(daemon)
  }
  await recording.end()
}

async function cutOften(
  run: Run,
  disk: Disk,
  promises: readonly DatedPromise[],
  calls: readonly Call[],
): Promise<void> {
  const random = run.random.fork()
  const [first = 0, last = 0] = [promises[0]?.at, calls.at(-1)?.end]
  let cuts = 0
  for (; cuts < run.count && performance.now() < run.deadline; cuts++) {
    const seed = Math.floor(random.next() * 2 ** 31)
    await oneCut(run, disk, promises, moment(promises, first + 1, last, random), seed, cuts)
    if (cuts % 250 === 249) console.log(`  ${cuts + 1} power cuts`)
  }
  run.row('power cuts', cuts)
  const enough = Math.min(run.count, CUTS_MIN)
  ensure(cuts >= enough, `only ${cuts} of at least ${enough} power cuts: --minutes is too short`)
}

/** Any moment, or one just after an acknowledgement, when the most may be missing. */
function moment(
  promises: readonly DatedPromise[],
  first: number,
  last: number,
  random: Random,
): number {
  if (random.chance(0.4)) return random.between(first, last)
  return Math.min(last, Math.max(first, random.pick(promises).at + random.between(1, 40)))
}

/** Fails unless a power cut leaves a registry with everything acknowledged. */
async function oneCut(
  run: Run,
  disk: Disk,
  promises: readonly DatedPromise[],
  at: number,
  seed: number,
  number: number,
): Promise<void> {
  const place = join(run.folder, `cut-${number}`)
  const cut = cutPower(disk, at, new Random(seed), place, isOrdered(run))
  try {
    await survey(run, join(place, 'registry'), promises, at, number)
  } catch (error) {
    throw new Violation(story(cut, seed, error))
  } finally {
    rmSync(place, { recursive: true, force: true })
    if (number % 20 === 0) collectGarbage()
  }
}

async function survey(
  run: Run,
  dir: string,
  promises: readonly DatedPromise[],
  at: number,
  number: number,
): Promise<void> {
  const env = environment(run)
  const every = env.PLIMSOLL_GIT_INDEX === 'on' ? PROGRAM_EVERY_WITH_GIT : PROGRAM_EVERY
  if (number % every === 1) {
    const folder = new Folder(dir, { env })
    await folder.run('build')
    await folder.verify()
  }
  const registry = await openRegistry(dir, {
    env: Program.environment({ ...env, PLIMSOLL_GIT_INDEX: 'off' }),
  })
  try {
    const { issues } = await build(registry)
    ensure(issues.length === 0, `build: ${issues.map(issue => issue.message).join('\n')}`)
    const isWhole = number % PAGES_EVERY === 2
    if (isWhole) await buildPages(registry)
    // A daemon renders pages behind its answers, so that without them nothing is missing.
    const findings = (isWhole && every === PROGRAM_EVERY ? verify : verifyCrates)(registry, {
      repair: false,
      served: false,
      onPending: outputs => ensure(false, `${outputs} outputs are still to be rendered`),
    })
    for await (const { where, what } of findings) throw new Violation(`verify: ${where}: ${what}`)
    await ensurePromises(registry, promises, at)
  } finally {
    await registry.close()
  }
}

function story({ at, modes, lostNames }: Cut, seed: number, error: unknown): string {
  const why = error instanceof Violation ? error.message : String((error as Error).stack)
  const lost = lostNames.slice(-8).map(name => `  lost: ${name}`)
  return [
    why,
    `power cut at line ${at} of the recording, seed ${seed}, names: ${modes[0]}, bytes: ${modes[1]}`,
    ...lost,
  ].join('\n')
}

/** Leaves syncs out of the recording, as if the program forgot them: each has to be found. */
async function plantFaults(run: Run, recording: Recording, calls: readonly Call[]): Promise<void> {
  for (const [name, skips] of Object.entries(FAULTS)) {
    const disk = new Disk(recording.registry, skips)
    disk.take(calls)
    const promises = dated(recording.promises, disk)
    const random = run.random.fork()
    let failure: unknown = null
    let cuts = 0
    for (; cuts < FAULT_CUTS && failure === null; cuts++) {
      const at = moment(promises, (promises[0]?.at ?? 0) + 1, calls.at(-1)?.end ?? 0, random)
      const seed = Math.floor(random.next() * 2 ** 31)
      await oneCut(run, disk, promises, at, seed, PROGRAM_EVERY * cuts).catch(error => {
        failure = error
      })
    }
    ensure(failure, `without syncs of the ${name}, ${cuts} power cuts find nothing wrong`)
    run.row(`without syncs of the ${name}`, `found at cut ${cuts}`)
    console.log(`  ${name}: ${String((failure as Error).message).split('\n')[0]}`)
  }
}

/** libsql closes a file when its last statement is collected. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}
