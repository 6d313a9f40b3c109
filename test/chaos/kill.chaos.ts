/**
 * Kills the real daemon, and programs beside it, at random moments under a mixed load and before
 * random steps of its work. After each death it must start, and `verify` must find nothing. The
 * answers of each crate must have a sequential order, over all deaths; everything acknowledged must
 * be there with its bytes.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { root } from '../support/plimsoll.ts'
import type { Random } from '../support/random.ts'
import { checkTheChecker, isLinearizable, story } from './driver/history.ts'
import type { TrackedCrate } from './driver/journal.ts'
import { Clients, type Field, USERS } from './kill/clients.ts'
import { Folder, type Program } from './program.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

const SABOTEUR = pathToFileURL(join(root, 'dist', 'test', 'crash', 'saboteur.js')).href
/** Deaths of a registry before the next begins: `verify` reads all of it after each. */
const LIVES = 20
/** Maximum number of steps before a death; a daemon that takes fewer is killed by the clock. */
const STEPS = 600
/** Most changes that are answered before a daemon is killed by the clock. */
const ANSWERS = 40
/** Longest life of a daemon in milliseconds, if it does nothing. */
const LIFE_MS = 10_000
/** At least one in this many deaths is before a step; that of a busy machine is rarer. */
const RARE = 20
/** Versions of a crate that are downloaded after a death; `verify` reads all of them. */
const SAMPLE = 8
/** In how many milliseconds a new daemon has finished pending work. */
const DONE_MS = 10_000

await chaos('kill', { count: 100, minutes: 60 }, async run => {
  checkTheChecker()
  const programs = new Set<Program>()
  const deaths = new Map<string, number>()
  run.onEnd(() => Promise.all([...programs].map(program => program.kill())))
  const isTime = () => performance.now() > run.deadline
  const all: Clients[] = []
  let round = 0
  try {
    while (round < run.count && !isTime()) {
      const field = await newField(run, round, programs)
      const clients = new Clients(field)
      all.push(clients)
      const end = Math.min(round + LIVES, run.count)
      for (; round < end && !isTime(); round++) {
        for (const kind of await oneDeath(run, field, clients))
          deaths.set(kind, (deaths.get(kind) ?? 0) + 1)
        if (round % 10 === 9) console.log(`  ${round + 1} deaths, ${clients.changes} changes`)
      }
      await survey(field, clients, clients.journal.subjects, run.random)
      rmSync(dirname(field.scratch), { recursive: true, maxRetries: 5 })
    }
    ensure(
      (deaths.get('before a step') ?? 0) >= Math.floor(round / RARE),
      'hardly any daemon dies before a step, so these deaths prove less than they should',
    )
  } finally {
    const sum = (of: (clients: Clients) => number) =>
      all.reduce((total, clients) => total + of(clients), 0)
    run.row('deaths of the daemon', round)
    run.row('how, and what died beside it', sums(deaths))
    const refused = sum(clients => clients.refused)
    run.row('operations', `${sum(clients => clients.operations)}, ${refused} of them refused`)
    run.row(
      'no answer',
      sum(clients => clients.unanswered),
    )
    run.row(
      'acknowledged changes',
      sum(clients => clients.changes),
    )
    run.row(
      'looks',
      sum(clients => clients.looks),
    )
    run.row(
      'crates with a sequential order',
      sum(({ journal }) => journal.subjects.length),
    )
  }
})

/** A new registry and its users. */
async function newField(run: Run, round: number, programs: Set<Program>): Promise<Field> {
  const home = join(run.folder, `from-${round}`)
  const scratch = join(home, 'scratch')
  mkdirSync(scratch, { recursive: true })
  const folder = new Folder(join(home, 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'on' } })
  const [, ...tokens] = await folder.prepare('alice', ...USERS)
  return {
    folder,
    scratch,
    programs,
    tokens: new Map(USERS.map((user, at) => [user, tokens[at] ?? ''])),
  }
}

/** One life of the daemon; returns how it ended and which programs died beside it. */
async function oneDeath(run: Run, field: Field, clients: Clients): Promise<string[]> {
  const { folder, programs } = field
  const random = run.random.fork()
  const began = performance.now()
  const isSabotaged = random.chance(0.4)
  const armed = join(run.folder, 'armed')
  const steps = join(run.folder, 'steps')
  // Steps are counted by the lines of their log.
  for (const file of [armed, steps]) rmSync(file, { force: true })
  const sabotage = {
    node: ['--import', SABOTEUR],
    env: {
      SABOTAGE_AT: String(random.between(1, STEPS)),
      SABOTAGE_WHEN: armed,
      SABOTAGE_LOG: steps,
    },
  }
  const daemon = folder.serve(isSabotaged ? sabotage : {})
  programs.add(daemon)
  const url = await daemon.url()
  if (isSabotaged) writeFileSync(armed, '')
  clients.start({ name: 'the daemon', url }, random.fork())
  const beside = maintenance(run, field, random)
  const [enough, end] = [clients.changes + random.below(ANSWERS), performance.now() + LIFE_MS]
  const isTime = () =>
    (!isSabotaged && clients.changes >= enough) || performance.now() > end || clients.isOver
  while (!daemon.hasEnded && !isTime()) await sleep(2)
  await sleep(random.below(40))
  const how = daemon.hasEnded ? 'before a step' : 'at any moment'
  if (daemon.hasEnded && (await daemon.ended) !== 'SIGKILL')
    throw new Violation(daemon.story(`ended with ${await daemon.ended}`))
  // In any order: programs that outlive the daemon for a moment go on writing.
  const doomed = random.chance(0.5) ? [...programs] : [...programs].reverse()
  for (const program of doomed) {
    program.child.kill('SIGKILL')
    if (random.chance(0.3)) await sleep(random.below(30))
  }
  await Promise.all(doomed.map(program => program.ended))
  programs.clear()
  await clients.stop().catch(error => {
    throw new Violation(
      daemon.story(`served this: ${error instanceof Error ? error.stack : error}`),
    )
  })
  const died = await ending(beside)
  const touched = clients.journal.subjects.filter(({ history }) =>
    history.some(operation => operation.begin >= began),
  )
  await survey(field, clients, [...touched, ...clients.added], random)
  return [how, ...(died === null ? [] : [died])]
}

/** Sometimes something long runs beside the daemon. */
function maintenance(run: Run, { folder, programs }: Field, random: Random): Program | null {
  const file = join(run.folder, 'backup.tar')
  const words = random.pick([
    null,
    ['build', '--all'],
    ['build'],
    ['backup', file],
    ['verify', '--repair'],
  ])
  if (words?.[0] === 'backup') rmSync(file, { force: true })
  const program = words && folder.start(words)
  if (program) programs.add(program)
  return program
}

/** The end of a program: it was killed, or it ended well. */
async function ending(program: Program | null): Promise<string | null> {
  if (program === null) return null
  const how = await program.ended
  const name = program.args.slice(0, -2).filter(word => !word.includes('/'))
  if (how === 'SIGKILL') return `${name.join(' ')} killed`
  ensure(how === 0, program.story(`ended with ${how}`))
  return `${name.join(' ')} finished`
}

/** Fails unless a new daemon serves everything acknowledged, and `verify` finds nothing. */
async function survey(
  { folder, programs }: Field,
  clients: Clients,
  subjects: readonly TrackedCrate[],
  random: Random,
): Promise<void> {
  const daemon = folder.serve()
  programs.add(daemon)
  const place = { name: 'the next daemon', url: await daemon.url() }
  for (const subject of subjects) {
    const { history } = subject
    const isAdded = clients.added.includes(subject)
    const last = { client: 'last', user: null, about: '', what: 'owners' } as const
    if (!isAdded) await clients.record(place, subject, last)
    const lines = isAdded
      ? await clients.index(place, subject)
      : await clients.agreed(subject, place, place, DONE_MS)
    if (lines === null) throw new Violation(daemon.story('does not answer'))
    ensure(isAdded || isLinearizable(history), story(subject.name, history))
    const missing = subject.missing(lines, Number.POSITIVE_INFINITY)
    ensure(missing.length === 0, `${subject.name} ${missing} was acknowledged and is gone`)
    for (const line of sampled(lines, random)) await clients.crate(place, subject, line)
  }
  await folder.verify()
  daemon.child.kill('SIGTERM')
  const ended = await daemon.ended
  ensure(ended === 0, daemon.story(`ended with ${ended} after SIGTERM`))
  programs.delete(daemon)
}

function sampled<T>(items: readonly T[], random: Random): readonly T[] {
  return items.length <= SAMPLE ? items : Array.from({ length: SAMPLE }, () => random.pick(items))
}

function sums(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ')
}
