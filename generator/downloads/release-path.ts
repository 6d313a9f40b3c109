import { expandDl } from '../../core/download-url.ts'
import { isName, parseName } from '../../core/name.ts'
import { CRATES_FOLDER, releaseOfPath } from '../../core/paths/crates.ts'
import type { RegistryUrls } from '../../core/urls.ts'
import { isVersion, parseVersion } from '../../core/version.ts'
import type { DownloadedRelease } from '../store/catalog/downloads/add.ts'

/** Returns the release that a target of an access log downloads; null for any other target. */
export type FindRelease = (target: string) => DownloadedRelease | null

const API = /^\/api\/v1\/crates\/([^/]+)\/([^/]+)\/download$/

/**
 * Returns the reader of the targets in access logs of a registry. `below` is the path below which
 * the log has the registry; by default, that of its base URL.
 */
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

const NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}'
const VERSION = '[0-9][0-9A-Za-z.+-]{0,254}'

/** A release whose parts are easily found in an expanded template. */
const SAMPLE = { name: parseName('aa'), version: parseVersion('1.0.0'), cksum: '0'.repeat(64) }

/** Returns the reader of the paths of a `dl` template (`expandDl`). */
function templateFinder(dl: string): FindRelease {
  const isPlain = expandDl(dl, SAMPLE) === `${dl}/aa/1.0.0/download`
  const template = isPlain ? `${dl}/{crate}/{version}/download` : dl
  const path = template.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/[?#].*$/s, '')
  const seen = new Set<string>()
  const parts = path.split(/(\{[a-z0-9-]+\})/).map(part => {
    const shape = MARKERS.get(part)
    if (!shape) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const [group, pattern] = shape
    if (group === null) return pattern
    if (seen.has(group)) return `\\k<${group}>`
    seen.add(group)
    return `(?<${group}>${pattern})`
  })
  const whole = new RegExp(`^${parts.join('')}$`)
  return target => {
    const { name = '', version = '', cksum } = whole.exec(target)?.groups ?? {}
    if (isName(name) && isVersion(version)) return { name, version }
    return cksum === undefined ? null : { cksum }
  }
}

/** The markers of a template: the group of its regular expression, and what is in it. */
const MARKERS: ReadonlyMap<string, readonly [group: string | null, pattern: string]> = new Map([
  ['{crate}', ['name', NAME]],
  ['{version}', ['version', VERSION]],
  ['{prefix}', [null, '[0-9A-Za-z_-]+(?:/[0-9A-Za-z_-]+)?']],
  ['{lowerprefix}', [null, '[0-9a-z_-]+(?:/[0-9a-z_-]+)?']],
  ['{sha256-checksum}', ['cksum', '[0-9a-f]{64}']],
])
