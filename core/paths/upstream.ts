import { isName, lowerPrefix, type Name } from '../name.ts'
import { isVersion, type Version } from '../version.ts'

/** Folder of the upstreams, in the registry folder and in URLs. */
export const UPSTREAM_FOLDER = 'upstream'

export const KNOWN_FOLDER = 'lines'

/** Returns the path in an upstream's storage of what is known of a crate. */
export function knownPath(name: Name): string {
  return `${KNOWN_FOLDER}/${lowerPrefix(name)}/${name.toLowerCase()}`
}

/** Returns the path in an upstream's storage of an alarm about a version, or of a kind of lines. */
export function alarmPath(name: Name, version: string): string {
  return `${ALARMS}${name.toLowerCase()}@${version.replace('*', 'any')}.json`
}

export const ALARMS = 'alarms/'

export const UPSTREAM_CRATES = 'crates/'

/** What identifies a `.crate` of an upstream. */
export interface CrateFile {
  readonly name: Name
  readonly version: Version
  readonly cksum: string
}

/** Returns the path of a `.crate` below an upstream: it carries the hash that has to come out. */
export function upstreamCratePath({ name, version, cksum }: CrateFile): string {
  return `${UPSTREAM_CRATES}${name}-${version}-${cksum}.crate`
}

/** The end of the `dl` template that leads to such paths. */
export const UPSTREAM_DL = 'crates/{crate}-{version}-{sha256-checksum}.crate'

/** Returns what such a path says; null for any other text. */
export function releaseOfUpstreamPath(path: string): CrateFile | null {
  const [, start = '', cksum = ''] = /^crates\/([^/]+)-([0-9a-f]{64})\.crate$/.exec(path) ?? []
  // Names have no dots, and the first number of a version no hyphens.
  const at = start.lastIndexOf('-', start.indexOf('.'))
  const [name, version] = [start.slice(0, Math.max(at, 0)), start.slice(at + 1)]
  return isName(name) && isVersion(version) ? { name, version, cksum } : null
}
