// core/error: How every house refuses. A refusal carries codes and values; only the catalog has its
// words.
import { type Code, message, type Params, quotedText } from './catalog.ts'

export { type Code, kindOf } from './catalog.ts'
export type { Kind } from './messages/kind.ts'

/** Maximum number of errors in one refusal; more do not help, and an attacker may cause many. */
const ERRORS_MAX = 50

/** One problem. An `error` makes the request fail, a `warning` does not. */
export interface Issue {
  readonly code: Code
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Returns a problem that makes the request fail. */
export function issue<C extends Code>(code: C, ...params: Params<C>): Issue {
  return { code, severity: 'error', message: message(code, params) }
}

/** Returns a problem that does not make the request fail. */
export function warning<C extends Code>(code: C, ...params: Params<C>): Issue {
  return { code, severity: 'warning', message: message(code, params) }
}

/** Puts the file that an issue is about at the start of its message. */
export function inFile(path: string, problem: Issue): Issue {
  return { ...problem, message: `${quotedText(path)}: ${problem.message}` }
}

/** Thrown for every expected failure; contains all issues that were found, at least one. */
export class Refusal extends Error {
  readonly issues: readonly [Issue, ...Issue[]]
  override readonly name = 'Refusal'
  /** Seconds after which the client may try again, if a rate limit was exceeded. */
  readonly retryAfter: number | undefined

  constructor(
    issues: readonly [Issue, ...Issue[]],
    options?: ErrorOptions & { readonly retryAfter?: number },
  ) {
    super(issues.map(problem => problem.message).join('; '), options)
    this.issues = issues
    this.retryAfter = options?.retryAfter
  }

  has(code: Code): boolean {
    return this.issues.some(problem => problem.code === code)
  }
}

/** Throws one error as a `Refusal`. */
export function refuse<C extends Code>(code: C, ...params: Params<C>): never {
  throw new Refusal([issue(code, ...params)])
}

/** Throws the errors among `issues`, if any, as one `Refusal`; counts those after the 50th. */
export function refuseErrors(issues: readonly Issue[]): void {
  const [first, ...rest] = unique(issues.filter(problem => problem.severity === 'error'))
  if (!first) return
  const more = rest.length + 1 - ERRORS_MAX
  if (more <= 0) throw new Refusal([first, ...rest])
  const last = issue('issues_more', { count: more })
  throw new Refusal([first, ...rest.slice(0, ERRORS_MAX - 1), last])
}

/** Returns the warnings among `issues`: the first of each code, with the number of the others. */
export function groupWarnings(issues: readonly Issue[]): Issue[] {
  const groups = new Map<string, { readonly first: Issue; count: number }>()
  for (const item of unique(issues.filter(problem => problem.severity === 'warning'))) {
    // Each of these says something else of another crate; they are few.
    const isOwn = /^dependency_(?:advisory|deprecated|yanked)$/.test(item.code)
    const key = isOwn ? item.message : item.code
    const group = groups.get(key)
    if (group) group.count++
    else groups.set(key, { first: item, count: 1 })
  }
  return [...groups.values()].map(({ first, count }) => {
    if (count === 1) return first
    const more = count === 2 ? '1 more warning' : `${count - 1} more warnings`
    return { ...first, message: `${first.message} (and ${more} of this kind)` }
  })
}

/** Removes duplicate issues: two checks may find the same one. */
export function unique(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map(item => [`${item.severity} ${item.message}`, item])).values()]
}

/** Runs `work`; on a `Refusal`, adds its issues to `issues` and returns `undefined`. */
export function collect<T>(issues: Issue[], work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    issues.push(...error.issues)
    return undefined
  }
}

/** For `catch`: returns a `Refusal`, and rethrows every other error. */
export function refusalOnly(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}
