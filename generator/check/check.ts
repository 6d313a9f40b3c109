import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { cargoVersion } from './cargo.ts'
import { Client } from './client.ts'
import { subjects } from './rows/all.ts'
import { play, type Result } from './run.ts'
import type { Statement } from './statement.ts'
import type { Subject } from './subject.ts'
import { openTarget } from './target.ts'
import { askAs } from './trial.ts'

/** What is checked, and how. */
export interface CheckOptions
  extends Pick<Subject, 'crates' | 'token' | 'prefix' | 'env' | 'pauseMs' | 'signal'> {
  /** A sparse or git index by its URL, or the folder of a static tree. */
  readonly target: string
  /** The Cargos that play, by path. */
  readonly cargos: readonly string[]
  readonly onResult: (done: number, all: number) => void
}

/** What came of a check. */
export interface Checked {
  readonly results: readonly Result[]
  /** What was published, `NAME@VERSION`, and whether it is yanked. */
  readonly left: readonly { readonly release: string; readonly yanked: boolean }[]
}

/**
 * Tries every statement about one registry. Refuses a target that is none and a Cargo that cannot
 * be run. Yanks at its end what it has published, also after a failure.
 */
export async function check(options: CheckOptions): Promise<Checked> {
  const { target: named, cargos, onResult, ...given } = options
  const client = new Client(given.env)
  const scratch = await mkdtemp(join(tmpdir(), 'plimsoll-check-'))
  const published: [name: string, version: string][] = []
  const results: Result[] = []
  const left: { release: string; yanked: boolean }[] = []
  try {
    const players = await Promise.all(cargos.map(path => player(path, given.env)))
    const target = await openTarget(named, client)
    const subject: Subject = { ...given, target, client, scratch, published, cargo: null }
    const all = Object.values(subjects).flat()
    const isPlayed = ({ needs }: Statement) => players.length > 0 && needs.includes('cargo')
    const isWritten = ({ needs }: Statement) => needs.includes('write')
    const open = all.filter(statement => !isPlayed(statement))
    // What is published shows the reading statements more.
    const rounds: [Subject, readonly Statement[]][] = [
      [subject, open.filter(isWritten)],
      [{ ...subject }, open.filter(statement => !isWritten(statement))],
      ...players.map((cargo): [Subject, readonly Statement[]] => [
        { ...subject, cargo },
        all.filter(isPlayed),
      ]),
    ]
    const count = rounds.reduce((sum, [, statements]) => sum + statements.length, 0)
    try {
      for (const [player, statements] of rounds) {
        const before = results.length
        results.push(...(await play(player, statements, done => onResult(before + done, count))))
      }
    } finally {
      for (const [name, version] of published) {
        // Whatever fails, the others are yanked, and what is left behind is said.
        const yanked = await askAs(subject, 'DELETE', `/${name}/${version}/yank`).then(
          answer => answer.isDone,
          () => false,
        )
        left.push({ release: `${name}@${version}`, yanked })
      }
      await target.close()
    }
    return { results: inOrder(all, results), left }
  } finally {
    await client.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

function inOrder(all: readonly Statement[], results: readonly Result[]): Result[] {
  return all.flatMap(({ id }) => results.filter(result => result.id === id))
}

async function player(
  path: string,
  env: Subject['env'],
): Promise<{ path: string; version: string }> {
  const version = (await cargoVersion(path, env)) ?? refuse('check_cargo', { path })
  return { path, version }
}
