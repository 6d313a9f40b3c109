import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { refuse } from '../../core/error/error.ts'
import { cargoVersion } from './cargo.ts'
import { Client } from './client.ts'
import { play, type Result } from './run.ts'
import type { Release, Subject } from './subject.ts'
import type { Statement } from './table.ts'
import { openTarget } from './target.ts'
import { askWith } from './trial.ts'
import { untried } from './verdict.ts'

export interface CheckOptions
  extends Pick<Subject, 'crates' | 'token' | 'prefix' | 'env' | 'pauseMs' | 'signal'> {
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
  const { target: named, cargos: paths, statements: all, onResult, onLeft, ...given } = options
  let end: AbortSignal | undefined = given.signal
  const client = new Client(given.env, ms =>
    sleep(ms, null, { signal: end }).catch(() => untried('the run was ended')),
  )
  const scratch = await mkdtemp(join(tmpdir(), 'plimsoll-check-'))
  try {
    const players =
      paths.length === 0 ? [null] : await Promise.all(paths.map(path => player(path, given.env)))
    const target = await openTarget(named, client)
    const made = { scratch, published: [], doubtful: [], cargo: null }
    const subject: Subject = { ...given, ...made, target, client }
    const cargos = all.filter(({ needs }) => needs.includes('cargo'))
    const others = all.filter(({ needs }) => !needs.includes('cargo'))
    // What is published shows the reading statements more.
    const rounds = [
      { player: subject, statements: others.filter(({ needs }) => needs.includes('write')) },
      {
        player: { ...subject },
        statements: others.filter(({ needs }) => !needs.includes('write')),
      },
      ...players.map(cargo => ({ player: { ...subject, cargo }, statements: cargos })),
    ]
    const total = rounds.flatMap(({ statements }) => statements).length
    const results: Result[] = []
    let done = 0
    try {
      for (const { player, statements } of rounds)
        results.push(...(await play(player, statements, () => onResult(++done, total))))
    } finally {
      // Yanks wait as long as the registry wants, also after the end.
      end = undefined
      await yankAll(subject, onLeft)
      await target.close()
    }
    return all.flatMap(({ id }) => results.filter(result => result.id === id))
  } finally {
    await client.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Yanks what was published; whatever fails, the others are yanked, and it is said. */
async function yankAll(subject: Subject, onLeft: CheckOptions['onLeft']): Promise<void> {
  const { published, doubtful } = subject
  const yank = async (release: Release) => {
    const [name, version] = release
    const answer = await askWith(subject, 'DELETE', `/${name}/${version}/yank`).catch(() => null)
    // A registry that refuses does not have what was published in doubt.
    const isThere = published.includes(release) || !answer?.isRefusal
    if (answer?.isDone || isThere) onLeft(`${name}@${version}`, answer?.isDone === true)
  }
  await Promise.all([...published, ...doubtful].map(yank))
}

async function player(path: string, env: Subject['env']) {
  return { path, version: (await cargoVersion(path, env)) ?? refuse('check_cargo', { path }) }
}
