import { crateFilePath } from '../../core/paths/crates.ts'
import { type OwnDl, ownDl } from '../../core/urls/dl-template.ts'
import { releaseOfBytes } from '../../generator/records/releases-stored.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { OpenHandler } from '../access/route.ts'
import { decodePath, type TreeFiles } from './public-files.ts'
import type { StoredCrate } from './stored-crate.ts'

/** Before paths with a checksum, which needs the records. No file of a tree begins so. */
const BY_CHECKSUM = '/.dl/'

/** Returns the template of `registry.dl` if it has markers and no other route answers it. */
function advertised({ urls }: Pick<Registry, 'urls'>): OwnDl | null {
  const dl = urls.dl.includes('{') ? ownDl(urls) : null
  return dl === null || dl.isUsual || dl.fault !== null ? null : dl
}

/**
 * Returns what turns the path of a download as `config.json` advertises it into that of the
 * `.crate` in the tree, and leaves other paths as they are: so a download has one route, with one
 * rule of access, whatever its address is. Null if there is no such template.
 */
export function advertisedPaths(
  registry: Pick<Registry, 'urls'>,
): ((path: string) => string) | null {
  const dl = advertised(registry)
  if (!dl) return null
  const head = dl.template.slice(0, dl.template.indexOf('{'))
  return path => {
    const plain = decodePath(path)
    const release = plain?.startsWith(head) ? dl.find(plain) : null
    if (plain === null || !release) return path
    const { name, version, cksum } = release
    if (cksum !== null || name === null || version === null)
      return BY_CHECKSUM + plain.split('/').map(encodeURIComponent).join('/')
    return `/${crateFilePath(name, version)}`
  }
}

/** Answers what `advertisedPaths` has made of a path with a checksum. */
export function crateByChecksum(
  registry: Registry,
  files: TreeFiles,
  stored: StoredCrate,
  missing: OpenHandler,
): readonly [path: string, handle: OpenHandler] | null {
  const dl = advertised(registry)
  if (!dl?.template.includes('{sha256-checksum}')) return null
  const handle: OpenHandler = async c => {
    const path = decodePath(c.req.path.slice(BY_CHECKSUM.length)) ?? ''
    const cksum = dl.find(path)?.cksum ?? null
    const release =
      cksum === null ? null : await releaseOfBytes(registry.database, cksum, 'visible')
    if (cksum === null || !release || dl.pathOf({ ...release, cksum }) !== path) return missing(c)
    const shown = await files.serve(`/${crateFilePath(release.name, release.version)}`, c)
    return shown ?? (await stored(c, release)) ?? missing(c)
  }
  return [`${BY_CHECKSUM}*`, handle]
}
