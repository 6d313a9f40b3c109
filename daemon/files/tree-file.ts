import type { Context } from 'hono'
import { CRATES_FOLDER, findCrate, isName, type Registry, refuse } from '../../generator/index.ts'
import { wantsPage } from '../access/access-guard.ts'
import type { OpenHandler } from '../access/route.ts'
import { redirect } from '../http/page.ts'
import { fileRequest } from './file-request.ts'
import type { PublicFiles } from './public-files.ts'

/** Any file of the public tree; a missing page is redirected, or answered with the 404 page. */
export function treeFile(registry: Registry, files: PublicFiles): OpenHandler {
  return c => files.serve(c.req.path, fileRequest(c)) ?? missing(registry, files, c)
}

async function missing(registry: Registry, files: PublicFiles, c: Context): Promise<Response> {
  if (!wantsPage(c)) refuse('route_unknown')
  const address = await rightAddress(registry, c)
  if (address !== null) return redirect(c, registry.site, address)
  return files.missing(fileRequest(c)) ?? refuse('route_unknown')
}

const BELOW_CRATE = new RegExp(`^/${CRATES_FOLDER}/([^/]+)(/.*)?$`)

/**
 * The page of a crate whose name is spelled differently (`Some_Crate` for `some-crate`); else null.
 */
async function rightAddress({ database }: Registry, c: Context): Promise<string | null> {
  const [, name = '', rest = '/'] = BELOW_CRATE.exec(c.req.path) ?? []
  if (!isName(name)) return null
  const crate = await findCrate(database, name)
  if (!crate || crate.name === name) return null
  return `/${CRATES_FOLDER}/${crate.name}${rest}${new URL(c.req.url).search}`
}
