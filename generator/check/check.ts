import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { cargoVersion } from './cargo.ts'
import { Client } from './client.ts'
import { subjects } from './rows/all.ts'
import { play, type Result } from './run.ts'
import type { Subject } from './subject.ts'
import type { Statement } from './table.ts'
import { openTarget } from './target.ts'
import { askWith } from './trial.ts'

/** What is checked, and how. */
export interface CheckOptions
  extends Pick<Subject, 'crates' | 'token' | 'prefix' | 'env' | 'pause' | 'signal'> {
  /** A sparse or git index by its URL, or the folder of a static tree. */
  readonly target: string
  /** The Cargos that play, by path. */
  readonly cargos: readonly string[]
  readonly onResult: (done: number, all: number) => void
}

/** What was published, `NAME@VERSION`, and whether it is yanked. */
export interface Left {
  readonly release: string
  readonly isYanked: boolean
}

/**
 * Tries every statement about one registry. Refuses a target that is none and a Cargo that cannot
 * be run. Yanks at its end what it has published, also after a failure and if no answer came.
 */
export async function check(
  options: CheckOptions,
): Promise<{ readonly results: readonly Result[]; readonly left: readonly Left[] }> {
  const { target: named, cargos, onResult, ...given } = options
  const client = new Client(given.env, given.pause)
  const scratch = await mkdtemp(join(tmpdir(), 'plimsoll-check-'))
  try {
    const players = await Promise.all(cargos.map(path => player(path, given.env)))
    const target = await openTarget(named, client)
    const made = { scratch, published: [], doubtful: [], cargo: null }
    const subject: Subject = { ...given, ...made, target, client }
    const all = Object.values(subjects).flat()
    const isPlayed = ({ needs }: Statement) => players.length > 0 && needs.includes('cargo')
    const isWritten = ({ needs }: Statement) => needs.includes('write')
    const open = all.filter(statement => !isPlayed(statement))
    // What is published shows the reading statements more.
    const rounds: [Subject, readonly Statement[]][] = [
      [subject, open.filter(isWritten)],
      [{ ...subject }, open.filter(statement => !isWritten(statement))],
      ...players.map((cargo): (typeof rounds)[0] => [{ ...subject, cargo }, all.filter(isPlayed)]),
    ]
    const count = rounds.reduce((sum, [, statements]) => sum + statements.length, 0)
    const results: Result[] = []
    const left: Left[] = []
    try {
      for (const [player, statements] of rounds) {
        const before = results.length
        results.push(...(await play(player, statements, done => onResult(before + done, count))))
      }
    } finally {
      left.push(...(await cleanUp(subject)))
      await target.close()
    }
    const inOrder = all.flatMap(({ id }) => results.filter(result => result.id === id))
    return { results: inOrder, left }
  } finally {
    await client.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Yanks everything; whatever fails, the others are yanked, and what is left behind is said. */
async function cleanUp(subject: Subject): Promise<Left[]> {
  const { published, doubtful } = subject
  const left: Left[] = []
  for (const release of [...published, ...doubtful]) {
    const [name, version] = release
    const answer = await askWith(subject, 'DELETE', `/${name}/${version}/yank`).catch(() => null)
    const isYanked = answer?.isDone === true
    // A registry that gives reasons knows nothing of what was published in doubt.
    const isNowhere = !published.includes(release) && (answer?.errors ?? null) !== null
    if (isYanked || !isNowhere) left.push({ release: `${name}@${version}`, isYanked })
  }
  return left
}

async function player(path: string, env: Subject['env']) {
  return { path, version: (await cargoVersion(path, env)) ?? refuse('check_cargo', { path }) }
}
