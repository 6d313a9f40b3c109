import { type CanonicalName, canonicalName, type Name } from '../name.ts'
import type { Dependency } from './entry.ts'

/** How something depends on a crate. */
export type Tie = Pick<Dependency, 'req' | 'kind' | 'optional'>

const ORDER = ['normal', 'build', 'dev']

/** How `deps` depend on a crate here; the plainest way of several, null if they do not. */
export function dependencyOn(deps: readonly Dependency[], crate: CanonicalName): Tie | null {
  const [first] = deps
    .filter(
      one => one.registry === null && canonicalName((one.package ?? one.name) as Name) === crate,
    )
    .sort(
      (a, b) =>
        ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || Number(a.optional) - Number(b.optional),
    )
  return first ? { req: first.req, kind: first.kind, optional: first.optional } : null
}
