import { CRATES_IO } from '../index-url.ts'
import { lockTables } from '../lock/lock-file.ts'
import { canonicalName } from '../name.ts'
import { UPSTREAM_FOLDER } from '../paths/upstream.ts'
import { type Advisory, covers, isAbout } from './advisory.ts'
import type { AdvisoryIndex } from './index-file.ts'

/** The longest `Cargo.lock` that is checked, in bytes. */
export const CHECKED_LOCK_MAX = 16 * 1024 * 1024

/** An advisory that covers a package of a lock file. */
export interface Finding {
  readonly advisory: Advisory
  readonly package: string
  readonly version: string
  /** The index URL of its registry. */
  readonly source: string
  /** The shortest way to it from what has no source, such as the workspace: `name version` each. */
  readonly path: readonly string[]
}

/**
 * Finds what advisories cover in a `Cargo.lock`, whose name is for messages, in its order. A
 * package is of the registry that its source says; one of a folder or of git is of none.
 */
export function findCovered(
  { advisories, registry }: AdvisoryIndex,
  lock: { readonly name: string; readonly text: string },
): { readonly packages: number; readonly findings: readonly Finding[] } {
  const packages = lockTables(lock, CHECKED_LOCK_MAX).packages
  const about = new Map<string, Advisory[]>()
  for (const advisory of advisories) {
    const name = canonicalName(advisory.package)
    about
      .set(name, about.get(name) ?? [])
      .get(name)
      ?.push(advisory)
  }
  const pathTo = pathsOf(packages)
  const mirror = `/${UPSTREAM_FOLDER}/crates-io/index/`
  const isMirror = (index: string) => registry.includes(index.replace(mirror, '/index/'))
  const findings = packages.flatMap(each => {
    const { name, version, index: source } = each
    const origin = registry.includes(source)
      ? registry
      : [source.endsWith(mirror) && isMirror(source) ? CRATES_IO : source]
    return (source === '' ? [] : (about.get(canonicalName(name)) ?? []))
      .filter(advisory => isAbout(advisory, name, origin) && covers(advisory, version))
      .map(advisory => ({ advisory, package: name, version, source, path: pathTo(each) }))
  })
  return { packages: packages.length, findings }
}

type Locked = ReturnType<typeof lockTables>['packages'][number]

/** Returns what finds the shortest path to a package, from one that has no source. */
function pathsOf(packages: readonly Locked[]): (to: Locked) => string[] {
  const locked = new Map<string, Locked>()
  for (const each of packages) {
    const { name, version, source } = each
    // As others name it: the less there is, the less there is to confuse it with.
    for (const key of [`${name} ${version} (${source})`, `${name} ${version}`, name])
      if (!locked.has(key)) locked.set(key, each)
  }
  const reached = packages.filter(({ source }) => source === undefined)
  const above = new Map<Locked, Locked | null>(reached.map(member => [member, null]))
  for (const each of reached)
    for (const next of each.dependencies.flatMap(dependency => locked.get(dependency) ?? []))
      if (!above.has(next)) {
        above.set(next, each)
        reached.push(next)
      }
  return to => {
    const path: string[] = []
    for (let at: Locked | null = to; at; at = above.get(at) ?? null)
      path.unshift(`${at.name} ${at.version}`)
    return path
  }
}
