import { refuse } from '../error/error.ts'
import { isName, type Name } from '../name.ts'
import { CRATES_FOLDER } from '../paths/crates.ts'
import { IMAGES_FOLDER } from '../paths/images.ts'
import { OVERVIEW_FOLDERS } from '../paths/listings.ts'
import { isOwnPath } from '../paths/own.ts'
import { SEARCH_FOLDER } from '../paths/search.ts'
import * as tree from '../paths/tree.ts'
import { isVersion, type Version } from '../version.ts'
import { expandDl } from './download-url.ts'
import type { RegistryUrls } from './urls.ts'

export type DlRelease = Parameters<typeof expandDl>[1]

interface DlParts {
  readonly name: Name | null
  readonly version: Version | null
  readonly cksum: string | null
}

interface DlPaths {
  /** The whole template; without markers it has the `/{crate}/{version}/download` of Cargo. */
  readonly template: string
  pathOf(release: DlRelease): string
  /** Returns the parts in a decoded path; null if `pathOf` never returns such a path. */
  find(path: string): DlParts | null
}

/** Patterns of a version, good enough to divide a path; `isVersion` looks closer. */
const NUMBERS = '[0-9]{1,20}(?:\\.[0-9]{1,20}){2}'
const MORE = '[0-9A-Za-z.-]{1,180}'

const MARKERS: ReadonlyMap<string, readonly [group: keyof DlParts, pattern: string]> = new Map([
  ['{crate}', ['name', '[A-Za-z][A-Za-z0-9_-]{0,63}']],
  ['{version}', ['version', `${NUMBERS}(?:-${MORE})?(?:\\+${MORE})?`]],
  ['{sha256-checksum}', ['cksum', '[0-9a-f]{64}']],
])
const PREFIXES = ['{prefix}', '{lowerprefix}']
const MARKER = new RegExp(`(${[...MARKERS.keys(), ...PREFIXES].join('|')})`)

/** The prefix of a name: `1`, `3/s` or `se/rd`. */
const FOLDER = '(?:[12]|3/[A-Za-z]|[A-Za-z][0-9A-Za-z_-]/[0-9A-Za-z_-]{2})'

function splitDl(dl: string): { readonly origin: string; readonly rest: string } {
  const whole = MARKER.test(dl) ? dl : `${dl}/{crate}/{version}/download`
  const [, origin = '', rest = ''] = /^([a-z]+:\/\/[^/?#]*)(.*)$/is.exec(whole) ?? []
  return { origin, rest }
}

/** Returns the paths of a `dl` at its host, with their first slash and without a query. */
export function dlPaths(dl: string): DlPaths {
  return pathsOf(splitDl(dl).rest.replace(/[?#].*$/s, ''))
}

function pathsOf(template: string): DlPaths {
  const pattern = patternOf(template.split(MARKER))
  return {
    template,
    pathOf: release => expandDl(template, release),
    find(path) {
      const groups = pattern.exec(path)?.groups
      const release = groups ? foundIn(groups) : null
      const isExact = !release?.name || expandDl(template, release as DlRelease) === path
      return isExact ? release : null
    },
  }
}

function foundIn(groups: Readonly<Record<string, string | undefined>>): DlParts | null {
  const { name = null, version = null, cksum = null } = groups
  if (name !== null && !isName(name)) return null
  if (version !== null && !isVersion(version)) return null
  return { name, version, cksum }
}

function patternOf(parts: readonly string[]): RegExp {
  const seen = new Set<string>()
  const patterns = parts.map(part => {
    const marker = MARKERS.get(part)
    if (PREFIXES.includes(part)) return FOLDER
    if (!marker) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const [group, pattern] = marker
    if (seen.has(group)) return `\\k<${group}>`
    seen.add(group)
    return `(?<${group}>${pattern})`
  })
  return new RegExp(`^${patterns.join('')}$`)
}

/** A `dl` that leads below the own address. */
export interface OwnDl extends DlPaths {
  /** The folder that all paths are in; empty for the top. */
  readonly folder: string
  /** Whether the tree or the web API has its paths anyway. */
  readonly isUsual: boolean
  /** Why a registry cannot answer it, as a clause; null if it can. */
  readonly fault: string | null
}

const USUAL: ReadonlySet<string> = new Set([
  'crates/{crate}/{crate}-{version}.crate',
  'api/v1/crates/{crate}/{version}/download',
])

/** Returns the `dl` of a registry as paths without a first slash; null if it leads elsewhere. */
export function ownDl({ base, dl }: Pick<RegistryUrls, 'base' | 'dl'>): OwnDl | null {
  const { origin, rest } = splitDl(dl)
  const own = new URL(base)
  const folder = `${own.pathname.replace(/\/+$/, '')}/`
  const isHere = URL.canParse(origin) && new URL(origin).origin === own.origin
  if (!isHere || !rest.startsWith(folder)) return null
  const inside = rest.slice(folder.length)
  const paths = pathsOf(inside.split('/').filter(Boolean).join('/'))
  const { template } = paths
  const common = template.slice(0, template.indexOf('{')).replace(/\/?[^/]*$/, '')
  const traits = { folder: common, isUsual: USUAL.has(template), fault: faultOf(inside, paths) }
  return { ...paths, ...traits }
}

/** Refuses a `dl` that leads below the own address to paths that nobody can answer. */
export function requireOwnDl(urls: Pick<RegistryUrls, 'base' | 'dl'>): void {
  const reason = ownDl(urls)?.fault ?? null
  if (reason !== null) refuse('dl_unanswerable', { dl: urls.dl, base: urls.base, reason })
}

const RESERVED: ReadonlySet<string> = new Set([
  ...[
    tree.ADVISORIES_FOLDER,
    tree.ASSETS_FOLDER,
    CRATES_FOLDER,
    tree.FEEDS_FOLDER,
    tree.GIT_INDEX_FOLDER,
    IMAGES_FOLDER,
    tree.INDEX_FOLDER,
  ],
  ...[...OVERVIEW_FOLDERS, SEARCH_FOLDER, tree.SITEMAPS_FOLDER],
  ...['api', 'healthz', 'me', 'metrics', 'readyz', 'startupz'],
])

function faultOf(inside: string, paths: DlPaths): string | null {
  const { template } = paths
  const segments = template.split('/')
  if (/[?#]/.test(inside)) return 'it has a query or a fragment'
  const isPlain = segments.every(part => !/^\.|[\\%:]|\s/.test(part.replaceAll(/\{[^}]*\}/g, 'x')))
  if (inside.endsWith('/') || !isPlain)
    return 'its path ends with a slash, or has a part that begins with a dot or contains `%`, `:`, `\\` or a space'
  if (!ALIKE.every(release => isTold(release, paths)))
    return 'two releases may have one path: it needs {sha256-checksum}, or {crate} and {version} in parts of their own or as {crate}-{version}'
  if (USUAL.has(template) || template === 'crates/{crate}/{version}/download') return null
  const [first = ''] = segments
  const [version, cksum] = ['1.0.0' as Version, '0'.repeat(64)]
  // Names that are first parts of paths, or begin like one.
  const names = [...RESERVED, 'mean', 'a'].filter(isName)
  const isOwn = (name: Name) => isReservedPath(paths.pathOf({ name, version, cksum }))
  return RESERVED.has(first) || names.some(isOwn) ? 'its paths belong to the registry itself' : null
}

const NAMES = ['a', 'ab', 'a-b', 'a1', 'a-1', 'abc', 'abcd', 'a3cd']

/** Releases that no template may confuse: names end like versions, prefixes like other prefixes. */
const ALIKE: readonly DlRelease[] = NAMES.flatMap(name =>
  ['1.0.0', '11.0.0', '1.0.0-a', '1.0.0-a-b', '1.0.0+a'].map(version => {
    return { name: name as Name, version: version as Version, cksum: '1f'.repeat(32) }
  }),
)

function isTold(release: DlRelease, paths: DlPaths): boolean {
  const parsed = paths.find(paths.pathOf(release))
  const isNamed = parsed?.name === release.name && parsed.version === release.version
  return isNamed || parsed?.cksum === release.cksum
}

function isReservedPath(path: string): boolean {
  const isPage = path.startsWith(`${CRATES_FOLDER}/`) && isOwnPath(`${path}/index.html`)
  return isPage || isOwnPath(path) || /^(?:api\/(?:v1|openapi)|me\/[a-z]{3})/.test(path)
}
