/**
 * Kills the real daemon, and programs beside it, at random moments under a mixed load and before
 * random steps of its work. After each death it must start, `verify` must find nothing, and
 * everything acknowledged must be there with its bytes.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { root } from '../test/support/plimsoll.ts'
import { ensureBytes, readIndex, readOwners } from './driver/api.ts'
import { type Field, Load } from './driver/load.ts'
import { Truth } from './driver/truth.ts'
import { Folder, type Program } from './program.ts'
import type { Random } from './random.ts'
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

await chaos('kill', { count: 100, minutes: 60 }, async run => {
  const shared = { programs: new Set<Program>(), done: new Map<string, number>() }
  const deaths = new Map<string, number>()
  run.onEnd(() => Promise.all([...shared.programs].map(program => program.kill())))
  const isTime = () => performance.now() > run.deadline
  let [round, acknowledged] = [0, 0]
  try {
    while (round < run.count && !isTime()) {
      const field = await newField(run, round, shared)
      const end = Math.min(round + LIVES, run.count)
      for (; round < end && !isTime(); round++) {
        const before = field.truth.acknowledged
        const death = await oneDeath(run, field, round)
        for (const kind of death) deaths.set(kind, (deaths.get(kind) ?? 0) + 1)
        acknowledged += field.truth.acknowledged - before
        if (round % 10 === 9) console.log(`  ${round + 1} deaths, ${sums(shared.done)}`)
      }
      await survey(field, field.truth.names(), run.random)
      rmSync(dirname(field.scratch), { recursive: true, maxRetries: 5 })
    }
    ensure(
      (deaths.get('before a step') ?? 0) >= Math.floor(round / RARE),
      'hardly any daemon dies before a step, so these deaths prove less than they should',
    )
  } finally {
    run.row('deaths of the daemon', round)
    run.row('how, and what died beside it', sums(deaths))
    run.row('answered', sums(shared.done))
    run.row('acknowledged changes', acknowledged)
  }
})

/** A new registry and the knowledge about it. */
async function newField(
  run: Run,
  round: number,
  shared: Pick<Field, 'programs' | 'done'>,
): Promise<Field> {
  const home = join(run.folder, `from-${round}`)
  const scratch = join(home, 'scratch')
  mkdirSync(scratch, { recursive: true })
  const folder = new Folder(join(home, 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'on' } })
  const [token = ''] = await folder.prepare('alice', 'bob')
  return { ...shared, folder, token, scratch, truth: new Truth(), otherLogin: 'bob' }
}

/** One life of the daemon; returns how it ended and which programs died beside it. */
async function oneDeath(run: Run, field: Field, round: number): Promise<string[]> {
  const { folder, truth } = field
  const random = run.random.fork()
  truth.touched.clear()
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
  field.programs.add(daemon)
  const url = await daemon.url()
  if (isSabotaged) writeFileSync(armed, '')
  const load = new Load(field, url, round, random.fork())
  const beside = maintenance(run, field, random)
  const [enough, end] = [truth.acknowledged + random.below(ANSWERS), performance.now() + LIFE_MS]
  const isTime = () =>
    (!isSabotaged && truth.acknowledged >= enough) || performance.now() > end || load.isOver
  while (!daemon.hasEnded && !isTime()) await sleep(2)
  await sleep(random.below(40))
  const how = daemon.hasEnded ? 'before a step' : 'at any moment'
  if (daemon.hasEnded && (await daemon.ended) !== 'SIGKILL')
    throw new Violation(daemon.story(`ended with ${await daemon.ended}`))
  const programs = [...field.programs]
  // In any order: programs that outlive the daemon for a moment go on writing.
  for (const program of random.chance(0.5) ? programs : programs.reverse()) {
    program.child.kill('SIGKILL')
    if (random.chance(0.3)) await sleep(random.below(30))
  }
  await Promise.all(programs.map(program => program.ended))
  field.programs.clear()
  await load.stop().catch(error => {
    throw new Violation(
      daemon.story(`served this: ${error instanceof Error ? error.stack : error}`),
    )
  })
  const died = await ending(beside)
  await survey(field, [...truth.touched], random)
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
async function survey(field: Field, names: readonly string[], random: Random): Promise<void> {
  const { folder, truth, otherLogin } = field
  const daemon = folder.serve()
  field.programs.add(daemon)
  const url = await daemon.url()
  for (const name of names) {
    const lines = await readIndex(url, name)
    if (lines === null) throw new Violation(daemon.story('does not answer'))
    truth.compare(name, truth.expected(name), lines)
    for (const line of sampled(lines, random)) await ensureBytes(url, line)
    truth.settle(name, lines)
    const isOwner = truth.owners.get(name)?.get(otherLogin)
    if (isOwner === undefined || lines.length === 0) continue
    const owners = await readOwners(url, name)
    ensure(owners, `the owners of ${name} are not answered`)
    if (isOwner !== null)
      ensure(owners.includes(otherLogin) === isOwner, `the owners of ${name} are ${owners}`)
    truth.setOwner(name, otherLogin, owners.includes(otherLogin))
  }
  await folder.verify()
  daemon.child.kill('SIGTERM')
  const ended = await daemon.ended
  ensure(ended === 0, daemon.story(`ended with ${ended} after SIGTERM`))
  field.programs.delete(daemon)
}

function sampled<T>(items: readonly T[], random: Random): readonly T[] {
  return items.length <= SAMPLE ? items : Array.from({ length: SAMPLE }, () => random.pick(items))
}

function sums(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ')
}
