import { CRATES_IO } from '../index-url.ts'
import { type CanonicalName, canonicalName } from '../name.ts'
import { UPSTREAM_FOLDER } from '../paths/upstream.ts'
import { lockTables } from '../upstream/lock-file.ts'
import { covers, isAbout } from './advisory.ts'
import type { AdvisoryIndex, ListedAdvisory } from './index-file.ts'

/** The longest `Cargo.lock` that is checked, in bytes. */
export const CHECKED_LOCK_MAX = 16 * 1024 * 1024

/** An advisory that covers a package of a lock file. */
export interface Finding {
  readonly advisory: ListedAdvisory
  readonly package: string
  readonly version: string
  /** The index URL of its registry. */
  readonly source: string
  /** The shortest way from a member of the workspace to it, as `name version` each. */
  readonly path: readonly string[]
}

/**
 * Finds what advisories cover in a `Cargo.lock`, whose name is for messages, in its order. A package
 * is of the registry that its source says; one of a folder or of a git repository is of none.
 */
export function findCovered(
  { advisories, registry }: AdvisoryIndex,
  lock: { readonly name: string; readonly text: string },
): { readonly packages: number; readonly findings: readonly Finding[] } {
  const { packages, root } = lockTables(lock, CHECKED_LOCK_MAX)
  const about = new Map<CanonicalName, ListedAdvisory[]>()
  for (const advisory of advisories) {
    const name = canonicalName(advisory.package)
    const known = about.get(name)
    if (known) known.push(advisory)
    else about.set(name, [advisory])
  }
  const pathTo = pathsOf([...packages, ...(root ? [root] : [])])
  const findings = packages.flatMap(({ name, version, index, source = '' }) => {
    const origin = registry.includes(index)
      ? registry
      : [isOfUpstream(index, registry) ? CRATES_IO : index]
    const known = index === '' ? [] : (about.get(canonicalName(name)) ?? [])
    return known
      .filter(advisory => isAbout(advisory, name, origin) && covers(advisory, version))
      .map(advisory => {
        const path = pathTo({ name, version, source })
        return { advisory, package: name, version, source: index, path }
      })
  })
  return { packages: packages.length, findings }
}

/** Whether an index is where a registry with these index URLs answers for crates.io. */
function isOfUpstream(index: string, registry: readonly string[]): boolean {
  const end = `/${UPSTREAM_FOLDER}/crates-io/index/`
  return registry.some(own => own.endsWith('/index/') && index === own.replace(/\/index\/$/, end))
}

interface Node {
  readonly name: string
  readonly version: string
  readonly source?: string | undefined
  readonly dependencies?: readonly string[]
}

/** Returns what finds the shortest path to a package, from one that has no source. */
function pathsOf(packages: readonly Node[]): (node: Node) => string[] {
  const keysOf = ({ name, version, source }: Node) =>
    [`${name} ${version} (${source})`, `${name} ${version}`, name] as const
  const found = new Map<string, Node>()
  for (const each of packages)
    for (const key of keysOf(each)) if (!found.has(key)) found.set(key, each)
  const below = (node: Node) =>
    (node.dependencies ?? []).flatMap(dependency => found.get(dependency) ?? [])
  const reached = packages.filter(({ source }) => source === undefined)
  const above = new Map<Node, Node | null>(reached.map(member => [member, null]))
  for (const node of reached)
    for (const next of below(node))
      if (!above.has(next)) {
        above.set(next, node)
        reached.push(next)
      }
  return node => {
    const path: string[] = []
    const start = found.get(keysOf(node)[0]) ?? node
    for (let at: Node | null = start; at; at = above.get(at) ?? null)
      path.unshift(`${at.name} ${at.version}`)
    return path
  }
}
