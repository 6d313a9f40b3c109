import { isName } from '../../core/name.ts'
import { CRATES_FOLDER, releaseOfPath } from '../../core/paths/crates.ts'
import { dlPaths } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import { isVersion } from '../../core/version.ts'
import type { DownloadedRelease } from '../records/downloads/count.ts'

/** Returns the release that a target of an access log downloads; null for any other target. */
export type FindRelease = (target: string) => DownloadedRelease | null

const API = /^\/api\/v1\/crates\/([^/]+)\/([^/]+)\/download$/

/** Returns what reads targets in logs; `below` is the registry's path there, by default its own. */
export function releaseFinder(urls: RegistryUrls, below?: string): FindRelease {
  const prefix = (below ?? new URL(urls.base).pathname).replace(/\/+$/, '')
  const template = templateFinder(urls.dl)
  return target => {
    const path = pathOf(target)
    if (path === null) return null
    if (path.startsWith(`${prefix}/`)) {
      const inside = path.slice(prefix.length)
      if (inside.startsWith(`/${CRATES_FOLDER}/`) && inside.endsWith('.crate'))
        return releaseOfPath(inside.slice(1)) ?? template(path)
      const [, name = '', version = ''] = API.exec(inside) ?? []
      if (isName(name) && isVersion(version)) return { name, version }
    }
    return template(path)
  }
}

/** Returns the decoded path of a target, without its host and query; null for an invalid one. */
function pathOf(target: string): string | null {
  let path = target.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/[?#].*$/s, '')
  // CloudFront encodes a `%` again, and no path of a release has one.
  for (let times = 0; times < 2 && path.includes('%'); times++) {
    try {
      path = decodeURIComponent(path)
    } catch {
      return null
    }
  }
  return path.replace(/^\/+/, '/')
}

function templateFinder(dl: string): FindRelease {
  const paths = dlPaths(dl)
  return target => {
    const { name = null, version = null, cksum = null } = paths.find(target) ?? {}
    if (name !== null && version !== null) return { name, version }
    return cksum === null ? null : { cksum }
  }
}
