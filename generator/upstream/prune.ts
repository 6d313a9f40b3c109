import { releaseOfUpstreamPath, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import type { LockedPackage } from '../../core/upstream/lock-file.ts'
import type { FileInfo } from '../places/place.ts'
import type { Upstream } from './upstream.ts'

/** Which `.crate` files stay: those of lock files, or those that are younger. */
export interface PruneRule {
  readonly locked: readonly LockedPackage[] | null
  /** Files that have not changed since this time, in milliseconds since 1970, go; null for all. */
  readonly olderThan: number | null
}

/**
 * Returns the `.crate` files that go by a rule, their bytes and how many are `kept`, and removes
 * them unless `isTrial`. Lines stay: they are what a changed past is recognized by.
 */
export async function prune(
  { source }: Upstream,
  rule: PruneRule,
  isTrial: boolean,
): Promise<{ readonly paths: readonly string[]; readonly bytes: number; readonly kept: number }> {
  const locked =
    rule.locked && new Set(rule.locked.map(({ name, version }) => `${name}@${version}`))
  const goes = ({ path, changed }: FileInfo): boolean => {
    const release = releaseOfUpstreamPath(path)
    if (!release || locked?.has(`${release.name}@${release.version}`)) return false
    return rule.olderThan === null || changed < rule.olderThan
  }
  const paths: string[] = []
  let [bytes, kept] = [0, 0]
  for await (const file of source.place.list(UPSTREAM_CRATES)) {
    if (goes(file)) {
      paths.push(file.path)
      bytes += file.size
    } else kept++
  }
  if (!isTrial) for (const path of paths) await source.place.remove(path)
  return { paths: paths.sort(), bytes, kept }
}
