import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { isName, prefix } from '../../core/name.ts'
import { CRATES_FOLDER, releaseOfPath } from '../../core/paths/crates.ts'
import { CACHE_CONTROL, INDEX_FOLDER, indexPath } from '../../core/paths/tree.ts'
import { findCard } from '../../generator/records/pages/cards.ts'
import { refuseDeleted } from '../../generator/records/releases-stored.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { assets } from '../../site/layout/assets.ts'
import { missingOfCrate } from '../../site/pages/not-found.ts'
import type { OpenHandler } from '../access/route.ts'
import { leadTo, page, redirect, wantsPage } from '../http/page.ts'
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

const BELOW_CRATE = new RegExp(`^/${CRATES_FOLDER}/([^/]+)(/.*)?$`)

/** Returns what answers for files that do not exist: `elsewhere`, or a page or an error. */
export function missingFile(
  registry: Registry,
  files: TreeFiles,
  elsewhere: (c: Context) => Promise<Response | null>,
): OpenHandler {
  return async c =>
    (await elsewhere(c)) ?? (await indexFile(files, c)) ?? missing(registry, files, c)
}

/** Answers for an index file at the path where Dependabot looks for it, which is not Cargo's. */
async function indexFile(files: TreeFiles, c: Context): Promise<Response | null> {
  const { path } = c.req
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (!isName(name) || path === `/${indexPath(name)}`) return null
  const folder = name.length === 3 ? `3/${name.slice(0, 2)}` : prefix(name)
  const isAlias = path === `/${INDEX_FOLDER}/${folder}/${name}`
  return isAlias ? files.serve(`/${indexPath(name)}`, c) : null
}

/**
 * Answers a request for a file that does not exist. Redirects every client below another spelling
 * of a crate (`Some_Crate`) to that crate. Otherwise shows browsers the 404 page, which names the
 * crate if only a page or version of it is missing.
 */
async function missing(registry: Registry, files: TreeFiles, c: Context): Promise<Response> {
  const [, name = '', rest = '/'] = BELOW_CRATE.exec(c.req.path) ?? []
  // The name of a `.crate` contains that of the crate, so a redirect would lead nowhere.
  const isPage = isName(name) && !rest.endsWith('.crate')
  const crate = isPage ? await findCard(registry.database, name) : null
  if (crate === null || crate.name === name) {
    const release = releaseOfPath(decodePath(c.req.path) ?? '')
    if (release) await refuseDeleted(registry.database, release.name, release.version)
    if (!wantsPage(c)) refuse('route_unknown')
    if (crate === null) return (await files.missing(c)) ?? refuse('route_unknown')
    return page(c, registry.site, missingOfCrate(registry.site, name), 404)
  }
  const search = new URL(c.req.url).search
  return redirect(c, registry.site, `/${CRATES_FOLDER}/${crate.name}${rest}${search}`)
}
