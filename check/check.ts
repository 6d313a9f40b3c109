// check: Asks any Cargo registry whether it works, statement by statement. `plimsoll check` calls
// it; it knows nothing of this one.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { forEachConcurrently } from '../core/async/concurrently.ts'
import { refuse } from '../core/error/error.ts'
import { cargoVersion, minor } from './cargo.ts'
import { Client } from './client.ts'
import { api, type CheckRun, isPrivate, type Release } from './probes.ts'
import type { Need, Statement } from './table.ts'
import { openTarget } from './target.ts'
import { askWith } from './trial.ts'
import { Untried, untried, Wrong } from './verdict.ts'

export interface CheckOptions
  extends Pick<
    CheckRun,
    'crates' | 'token' | 'prefix' | 'env' | 'pauseMs' | 'signal' | 'onLooked'
  > {
  /** A sparse or git index by its URL, or the folder of a static tree. */
  readonly target: string
  readonly cargos: readonly string[]
  readonly statements: readonly Statement[]
  readonly onResult: (done: number, all: number) => void
  /** Learns what was published, `NAME@VERSION`, and whether it is yanked. */
  readonly onLeft: (release: string, isYanked: boolean) => void
}

/**
 * Tries every statement about one registry. Refuses a target that is none and a Cargo that cannot
 * be run. Yanks at its end what it has published, also after a failure and if no answer came.
 */
export async function check(options: CheckOptions): Promise<Result[]> {
  const { target: named, cargos: paths, statements: all, onResult, onLeft, ...rest } = options
  let end: AbortSignal | undefined = rest.signal
  const client = new Client(rest.env, ms =>
    sleep(ms, null, { signal: end }).catch(() => untried('the run was ended')),
  )
  const scratch = await mkdtemp(join(tmpdir(), 'plimsoll-check-'))
  try {
    const players =
      paths.length === 0 ? [null] : await Promise.all(paths.map(path => player(path, rest.env)))
    const target = await openTarget(named, client)
    const made = { scratch, published: [], doubtful: [], cargo: null }
    const run: CheckRun = { ...rest, ...made, target, client }
    const roundOf = ({ needs }: Statement) =>
      needs.includes('cargo') ? 'cargo' : needs.includes('write') ? 'write' : 'read'
    const round = (player: CheckRun, kind: ReturnType<typeof roundOf>) =>
      [player, all.filter(each => roundOf(each) === kind)] as const
    const ofCargo = players.map(cargo => round({ ...run, cargo }, 'cargo'))
    // What is published shows the reading statements more.
    const rounds = [round(run, 'write'), round({ ...run }, 'read'), ...ofCargo]
    const total = rounds.flatMap(([, statements]) => statements).length
    const results: Result[] = []
    let done = 0
    try {
      for (const [player, statements] of rounds)
        results.push(...(await play(player, statements, () => onResult(++done, total))))
    } finally {
      // Yanks wait as long as the registry wants, also after the end.
      end = undefined
      await yankAll(run, onLeft)
      await target.close()
    }
    return all.flatMap(({ id }) => results.filter(result => result.id === id))
  } finally {
    await client.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Yanks all that the run published. A failure is reported and does not stop the others. */
async function yankAll(run: CheckRun, onLeft: CheckOptions['onLeft']): Promise<void> {
  const { published, doubtful } = run
  const yank = async (release: Release) => {
    const [name, version] = release
    const answer = await askWith(run, 'DELETE', `/${name}/${version}/yank`).catch(() => null)
    // If the registry refuses the yank, it does not have that doubtful publish.
    const isThere = published.includes(release) || !answer?.isRefusal
    if (answer?.isDone || isThere) onLeft(`${name}@${version}`, answer?.isDone === true)
  }
  await Promise.all([...published, ...doubtful].map(yank))
}

async function player(path: string, env: CheckRun['env']) {
  return { path, version: (await cargoVersion(path, env)) ?? refuse('check_cargo', { path }) }
}

export interface Result extends Pick<Statement, 'id' | 'sentence' | 'source' | 'weight'> {
  readonly status: 'pass' | 'fail' | 'untried'
  /** What shows that a statement is false, or why it was not tried; null if it holds. */
  readonly seen: string | null
  readonly target: string
  /** The version of the Cargo that played; null without one. */
  readonly cargo: string | null
}

const AT_ONCE = 16

/** Why statements with a need are not tried where it is not met. */
const NEEDS: Readonly<
  Record<Need, readonly [why: string, isMet: (run: CheckRun) => Promise<boolean> | boolean]>
> = {
  http: ['only a sparse index is read over HTTP', ({ target }) => target.kind === 'http'],
  git: ['the index is not read as a repository', ({ target }) => target.kind === 'git'],
  api: ['there is no web API', async run => (await api(run)) !== ''],
  write: ['nothing is published without --write', ({ prefix }) => prefix !== null],
  cargo: ['no Cargo is named by --cargo', ({ cargo }) => cargo !== null],
  private: ['everybody may read the index', isPrivate],
  public: ['the registry is private', async run => !(await isPrivate(run))],
}

/**
 * Tries statements about a registry, several at a time; what is left when its signal aborts is
 * not tried.
 */
export async function play(
  run: CheckRun,
  statements: readonly Statement[],
  onResult: () => void,
): Promise<Result[]> {
  const causes = new Map<Statement, Wrong | Untried | null>()
  const work = async (statement: Statement) => {
    causes.set(statement, await judge(run, statement))
    onResult()
  }
  await forEachConcurrently(statements, work, AT_ONCE)
  const about = { target: run.target.name, cargo: run.cargo?.version ?? null }
  return statements.map((statement, at) => {
    const { id, sentence, source, weight } = statement
    const cause = causes.get(statement) ?? null
    // If one cause, such as a silent server, blocks several, only the first fails.
    const isFirst = statements.findIndex(each => causes.get(each) === cause) === at
    const status = cause === null ? 'pass' : cause instanceof Wrong && isFirst ? 'fail' : 'untried'
    return { id, sentence, source, weight, ...about, status, seen: cause?.message ?? null }
  })
}

/** Whether something is broken, or nothing could be found to be right. */
export function isBroken(results: readonly Result[]): boolean {
  const isBad = ({ status, weight }: Result) => status === 'fail' && weight.startsWith('breaks')
  return results.some(isBad) || results.every(({ status }) => status !== 'pass')
}

async function judge(
  run: CheckRun,
  { needs, attempt, since }: Statement,
): Promise<Wrong | Untried | null> {
  const { signal, cargo } = run
  try {
    if (signal.aborted) untried('the run was ended')
    for (const need of needs) {
      const [why, isMet] = NEEDS[need]
      if (!(await isMet(run))) untried(why)
    }
    if (since !== null && cargo !== null && minor(cargo.version) < minor(since))
      untried(`it is about Cargo ${since} and newer`)
    await attempt(run)
    return null
  } catch (error) {
    if (error instanceof Untried || error instanceof Wrong) return error
    throw error
  }
}
