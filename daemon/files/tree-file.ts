import { refuse } from '../../core/error/error.ts'
import { isName } from '../../core/name.ts'
import { CRATES_FOLDER, releaseOfPath } from '../../core/paths/crates.ts'
import { CACHE_CONTROL } from '../../core/paths/tree.ts'
import { findCard } from '../../generator/records/pages/cards.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { assets } from '../../site/layout/assets.ts'
import type { OpenHandler } from '../access/route.ts'
import { leadTo } from '../http/page.ts'
import { decodePath, type TreeFiles } from './public-files.ts'
import type { StoredCrate } from './stored-crate.ts'

/** Serves a file of the public tree by the path of the request. */
export function treeFile(files: TreeFiles): OpenHandler {
  return async c => (await files.serve(c.req.path, c)) ?? refuse('route_unknown')
}

/** Serves any path of the public tree; a `.crate` that it lacks comes from the crate store. */
export function treePage(files: TreeFiles, stored: StoredCrate, missing: OpenHandler): OpenHandler {
  return async c => {
    const shown = await files.serve(c.req.path, c)
    if (shown) return shown
    const release = releaseOfPath(decodePath(c.req.path) ?? '')
    return (release && (await stored(c, release))) ?? missing(c)
  }
}

const LATEST = new RegExp(`^/${CRATES_FOLDER}/([^/]+)/latest(?:/(.*))?$`)

/** `GET /crates/{name}/latest/…`: redirects to the same page of the crate's newest version. */
export function latest(registry: Registry, missing: OpenHandler): OpenHandler {
  return async c => {
    const [, name = '', rest = ''] = LATEST.exec(c.req.path) ?? []
    const card = isName(name) ? await findCard(registry.database, name) : null
    if (!card) return missing(c)
    return leadTo(c, registry.site, `/${CRATES_FOLDER}/${card.name}/${card.newest}/${rest}`, 302)
  }
}

const ours = new Map(assets.map(({ path, ...asset }) => [`/${path}`, asset]))

/**
 * `GET /assets/…`: scripts and styles, public because the login form needs them. Assets of this
 * release are built into the program, assets of earlier releases are in the public tree.
 */
export function assetFile(files: TreeFiles): OpenHandler {
  const fromTree = treeFile(files)
  return c => {
    const asset = ours.get(c.req.path)
    if (!asset) return fromTree(c)
    return c.body(new Uint8Array(asset.bytes), 200, {
      'content-type': asset.contentType,
      'cache-control': CACHE_CONTROL.immutable,
      'x-content-type-options': 'nosniff',
    })
  }
}
