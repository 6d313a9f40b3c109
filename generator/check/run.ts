import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { minor } from './cargo.ts'
import { api, isPrivate, type Subject } from './subject.ts'
import type { Need, Statement } from './table.ts'
import { Untried, untried, Wrong } from './verdict.ts'

/** What came of a statement. */
export interface Result extends Pick<Statement, 'id' | 'sentence' | 'source' | 'weight'> {
  readonly status: 'pass' | 'fail' | 'untried'
  /** What was seen of a false one, or why one was not tried; null if it holds. */
  readonly seen: string | null
  readonly target: string
  /** The version of the Cargo that played; null without one. */
  readonly cargo: string | null
}

/** How many statements are tried at a time. */
const AT_ONCE = 16

/** Why statements with a need are not tried where it is not met. */
const NEEDS: Readonly<
  Record<Need, readonly [why: string, isMet: (subject: Subject) => Promise<boolean> | boolean]>
> = {
  http: ['only a sparse index is read over HTTP', ({ target }) => target.kind === 'http'],
  git: ['the index is not read as a repository', ({ target }) => target.kind === 'git'],
  api: ['there is no web API', async subject => (await api(subject)) !== ''],
  write: ['nothing is published without --write', ({ prefix }) => prefix !== null],
  cargo: ['no Cargo is named by --cargo', ({ cargo }) => cargo !== null],
  private: ['everybody may read the index', isPrivate],
  public: ['the registry is private', async subject => !(await isPrivate(subject))],
}

/**
 * Tries statements about a subject, several at a time; what is left when its signal aborts is
 * not tried.
 */
export async function play(
  subject: Subject,
  statements: readonly Statement[],
  onResult: () => void,
): Promise<Result[]> {
  const results: Result[] = []
  const { target, cargo } = subject
  const about = { target: target.name, cargo: cargo?.version ?? null }
  const work = async (statement: Statement) => {
    const { id, sentence, source, weight } = statement
    results.push({ id, sentence, source, weight, ...about, ...(await judge(subject, statement)) })
    onResult()
  }
  await forEachConcurrently(statements, work, AT_ONCE)
  return results
}

/** Whether something is broken. */
export function isBroken(results: readonly Result[]): boolean {
  return results.some(({ status, weight }) => status === 'fail' && weight.startsWith('breaks'))
}

async function judge(
  subject: Subject,
  { needs, attempt, since }: Statement,
): Promise<Pick<Result, 'status' | 'seen'>> {
  const { signal, cargo } = subject
  try {
    if (signal.aborted) untried('the run was ended')
    for (const need of needs) {
      const [why, isMet] = NEEDS[need]
      if (!(await isMet(subject))) untried(why)
    }
    if (since !== null && cargo !== null && minor(cargo.version) < minor(since))
      untried(`it is about Cargo ${since} and newer`)
    await attempt(subject)
    return { status: 'pass', seen: null }
  } catch (error) {
    if (error instanceof Untried) return { status: 'untried', seen: error.message }
    if (error instanceof Wrong) return { status: 'fail', seen: error.message }
    throw error
  }
}
