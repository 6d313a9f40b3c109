import { releaseOfUpstreamPath, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import type { LockedPackage } from '../../core/upstream/lock-file.ts'
import type { FileInfo } from '../places/place.ts'
import type { Upstream } from './upstream.ts'

/**
 * Removes, unless `isTrial`, the `.crate` files that are not `locked` and have not changed since
 * `limit`, in milliseconds since 1970, if there is one; returns them, their bytes and how many are
 * `kept`. Lines stay: they are what a changed past is recognized by.
 */
export async function prune(
  { source }: Upstream,
  locked: readonly LockedPackage[],
  limit: number | null,
  isTrial: boolean,
): Promise<{ readonly paths: readonly string[]; readonly bytes: number; readonly kept: number }> {
  const staying = new Set(locked.map(({ name, version }) => `${name}@${version}`))
  const goes = ({ path, changed }: FileInfo): boolean => {
    const release = releaseOfUpstreamPath(path)
    if (!release || staying.has(`${release.name}@${release.version}`)) return false
    return limit === null || changed < limit
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
