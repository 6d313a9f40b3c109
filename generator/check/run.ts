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

/** Whether a need is met, and why statements that have it are not tried otherwise. */
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
 * not tried. Answers in the order of the statements.
 */
export async function play(
  subject: Subject,
  statements: readonly Statement[],
  onResult: (done: number) => void,
): Promise<Result[]> {
  const results = new Map<Statement, Result>()
  const work = async (statement: Statement) => {
    const { id, sentence, source, weight } = statement
    const facts = { id, sentence, source, weight, target: subject.target.name }
    const cargo = subject.cargo?.version ?? null
    results.set(statement, { ...facts, cargo, ...(await judge(subject, statement)) })
    onResult(results.size)
  }
  await forEachConcurrently(statements, work, AT_ONCE)
  return statements.flatMap(statement => results.get(statement) ?? [])
}

/** Whether something is broken. */
export function isBroken(results: readonly Result[]): boolean {
  return results.some(({ status, weight }) => status === 'fail' && weight.startsWith('breaks'))
}

async function judge(
  subject: Subject,
  { needs, attempt, since }: Statement,
): Promise<Pick<Result, 'status' | 'seen'>> {
  try {
    if (subject.signal.aborted) untried('the run was ended')
    for (const need of needs) {
      const [why, isMet] = NEEDS[need]
      if (!(await isMet(subject))) untried(why)
    }
    const isOlder = since !== null && minor(subject.cargo?.version ?? since) < minor(since)
    if (needs.includes('cargo') && isOlder) untried(`it is about Cargo ${since} and newer`)
    await attempt(subject)
    return { status: 'pass', seen: null }
  } catch (error) {
    if (error instanceof Untried) return { status: 'untried', seen: error.message }
    if (error instanceof Wrong) return { status: 'fail', seen: error.message }
    throw error
  }
}
