import type { Context } from 'hono'
import {
  CRATES_FOLDER,
  findCard,
  findCrate,
  isName,
  type Registry,
  refuse,
} from '../../generator/index.ts'
import { assets } from '../../site/layout/assets.ts'
import { missingOfCrate } from '../../site/pages/not-found.ts'
import { wantsPage } from '../access/access-guard.ts'
import type { OpenHandler } from '../access/route.ts'
import { page, redirect } from '../http/page.ts'
import type { PublicFiles } from './public-files.ts'

/** Serves a file of the public tree by the path of the request. */
export function treeFile(files: PublicFiles): OpenHandler {
  return c => files.serve(c.req.path, c.req) ?? refuse('route_unknown')
}

/**
 * Serves any path; redirects a page of a misspelled crate (`Some_Crate`), and otherwise shows the
 * 404 page, which names the crate if only a page or version of it is missing.
 */
export function treePage(registry: Registry, files: PublicFiles): OpenHandler {
  return c => files.serve(c.req.path, c.req) ?? missing(registry, files, c)
}

const LATEST = new RegExp(`^/${CRATES_FOLDER}/([^/]+)/latest(?:/(.*))?$`)

/** `GET /crates/{name}/latest/…`: redirects to the same page of the crate's newest version. */
export function latest(registry: Registry, files: PublicFiles): OpenHandler {
  return async c => {
    const [, name = '', rest = ''] = LATEST.exec(c.req.path) ?? []
    const card = isName(name) ? await findCard(registry.database, name) : null
    if (!card) return missing(registry, files, c)
    const path = `${CRATES_FOLDER}/${card.name}/${card.newest}/${rest}`
    c.header('cache-control', 'no-cache')
    return c.redirect(`${new URL(registry.site.base).pathname.replace(/\/$/, '')}/${path}`, 302)
  }
}

async function missing(registry: Registry, files: PublicFiles, c: Context): Promise<Response> {
  if (!wantsPage(c)) refuse('route_unknown')
  const [, name = '', rest = '/'] = BELOW_CRATE.exec(c.req.path) ?? []
  const crate = isName(name) ? await findCrate(registry.database, name) : null
  if (!crate) return files.missing(c.req) ?? refuse('route_unknown')
  if (crate.name === name) return page(c, registry.site, missingOfCrate(registry.site, name), 404)
  const search = new URL(c.req.url).search
  return redirect(c, registry.site, `/${CRATES_FOLDER}/${crate.name}${rest}${search}`)
}

const BELOW_CRATE = new RegExp(`^/${CRATES_FOLDER}/([^/]+)(/.*)?$`)

const ours = new Map(assets.map(({ path, ...asset }) => [`/${path}`, asset]))

/**
 * `GET /assets/…`: scripts and styles, public because the login form needs them. Assets of this
 * release are built into the program, assets of earlier releases are in the public tree.
 */
export function assetFile(files: PublicFiles): OpenHandler {
  const fromTree = treeFile(files)
  return c => {
    const asset = ours.get(c.req.path)
    if (!asset) return fromTree(c)
    return c.body(new Uint8Array(asset.bytes), 200, {
      'content-type': asset.contentType,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
  }
}
