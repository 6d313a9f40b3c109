import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { minor } from './cargo.ts'
import { api, isPrivate, type Subject } from './subject.ts'
import type { Need, Statement } from './table.ts'
import { Untried, untried, Wrong } from './verdict.ts'

export interface Result extends Pick<Statement, 'id' | 'sentence' | 'source' | 'weight'> {
  readonly status: 'pass' | 'fail' | 'untried'
  /** What was seen of a false one, or why one was not tried; null if it holds. */
  readonly seen: string | null
  readonly target: string
  /** The version of the Cargo that played; null without one. */
  readonly cargo: string | null
}

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
  const causes = new Map<Statement, Wrong | Untried | null>()
  const work = async (statement: Statement) => {
    causes.set(statement, await judge(subject, statement))
    onResult()
  }
  await forEachConcurrently(statements, work, AT_ONCE)
  const about = { target: subject.target.name, cargo: subject.cargo?.version ?? null }
  return statements.map((statement, at) => {
    const { id, sentence, source, weight } = statement
    const cause = causes.get(statement) ?? null
    // What is in the way of several, such as a server that does not answer, fails the first alone.
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
  subject: Subject,
  { needs, attempt, since }: Statement,
): Promise<Wrong | Untried | null> {
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
    return null
  } catch (error) {
    if (error instanceof Untried || error instanceof Wrong) return error
    throw error
  }
}
