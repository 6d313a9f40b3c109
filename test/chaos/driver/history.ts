import { ensure } from '../run.ts'

/** One operation of a client on a crate, with the moments of its begin and its end. */
export interface Operation {
  readonly client: string
  /** Null for the operator, who may do everything. */
  readonly user: string | null
  readonly what: 'publish' | 'yank' | 'unyank' | 'own' | 'disown' | 'owners' | 'versions'
  /** The version, or the login. */
  readonly about: string
  readonly begin: number
  /** `Infinity` without an answer. */
  readonly end: number
  /** The text it read, or its success; null without an answer: it may happen later, or never. */
  readonly result: string | null
}

/** A crate as the sequential model knows it: flags by version, and owners. */
interface State {
  readonly versions: ReadonlyMap<string, boolean>
  readonly owners: ReadonlySet<string>
}

/** The result of a refused operation. */
export const REFUSED = 'refused'
/** The result of a change that is made. */
export const DONE = 'done'

function step(state: State | null, { what, user, about }: Operation): [string, State | null] {
  if (state === null) {
    if (what !== 'publish' || user === null) return [REFUSED, null]
    return [DONE, { versions: new Map([[about, false]]), owners: new Set([user]) }]
  }
  const { versions, owners } = state
  if (what === 'owners') return [[...owners].sort().join(), state]
  if (what === 'versions') return [shown(versions), state]
  if (user !== null && !owners.has(user)) return [REFUSED, state]
  switch (what) {
    case 'publish':
      if (versions.has(about)) return [REFUSED, state]
      return [DONE, { owners, versions: new Map([...versions, [about, false]]) }]
    case 'yank':
    case 'unyank':
      if (!versions.has(about)) return [REFUSED, state]
      return [DONE, { owners, versions: new Map([...versions, [about, what === 'yank']]) }]
    case 'own':
      return [DONE, { versions, owners: new Set([...owners, about]) }]
    case 'disown': {
      const left = new Set([...owners].filter(login => login !== about))
      if (left.size === owners.size || left.size === 0) return [REFUSED, state]
      return [DONE, { versions, owners: left }]
    }
  }
}

/** Versions as a read answers them. */
export function shown(versions: Iterable<readonly [string, boolean]>): string {
  return [...versions]
    .map(([version, yanked]) => `${version}${yanked ? ' yanked' : ''}`)
    .sort()
    .join()
}

/**
 * Whether some order of the operations gives the sequential model's answers and puts no operation
 * before one that had ended when it began (linearizability, by Wing and Gong's search).
 */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const failed = new Set<string>()
  const search = (done: bigint, state: State | null): boolean => {
    const left = operations.filter((_, at) => !(done & (1n << BigInt(at))))
    if (left.every(operation => operation.result === null)) return true
    const key = `${done} ${state && `${[...state.owners].sort()} ${shown(state.versions)}`}`
    if (failed.has(key)) return false
    const firstEnd = Math.min(...left.map(operation => operation.end))
    for (const operation of left) {
      // Another one had ended before this began: that has to come first.
      if (operation.begin > firstEnd) continue
      const [result, next] = step(state, operation)
      // Without an answer, an operation that changes nothing might as well never happen.
      const isPossible = operation.result === null ? next !== state : operation.result === result
      if (isPossible && search(done | (1n << BigInt(operations.indexOf(operation))), next))
        return true
    }
    failed.add(key)
    return false
  }
  return search(0n, null)
}

/** The history of a crate in the order of the beginnings, for people. */
export function story(name: string, history: readonly Operation[]): string {
  const lines = [...history]
    .sort((a, b) => a.begin - b.begin)
    .map(
      operation =>
        `  ${operation.begin.toFixed(1)}–${operation.end.toFixed(1)} ${operation.client} ${operation.what} ${operation.about}: ${operation.result ?? 'no answer'}`,
    )
  return `no sequential order explains the answers about ${name}:\n${lines.join('\n')}`
}

/** Fails unless histories without an order are found, and those with one are understood. */
export function checkTheChecker(): void {
  const base = { client: 'a', user: 'bob', about: '1.0.0' }
  const first = { ...base, what: 'publish', begin: 0, end: 1, result: DONE } as const
  const yank = { ...base, what: 'yank', begin: 2, end: 3, result: DONE } as const
  const unanswered = { ...yank, end: Number.POSITIVE_INFINITY, result: null } as const
  const read = (begin: number, result: string) =>
    ({ ...base, what: 'versions', begin, end: begin + 1, result }) as const
  const [bare, yanked] = ['1.0.0', '1.0.0 yanked']
  const rows: readonly (readonly [what: string, hasOrder: boolean, history: Operation[]])[] = [
    ['a lost yank', false, [first, yank, read(4, bare)]],
    ['a read during a yank', true, [first, yank, read(2.5, bare)]],
    ['a late yank', true, [first, unanswered, read(3, bare), read(5, yanked)]],
    ['a yank undone', false, [first, unanswered, read(3, yanked), read(5, bare)]],
  ]
  for (const [what, hasOrder, history] of rows)
    ensure(isLinearizable(history) === hasOrder, `the checker is wrong about ${what}`)
}
