import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { isName } from '../../core/name.ts'
import { CRATES_FOLDER, releaseOfPath } from '../../core/paths/crates.ts'
import { movedPath } from '../../core/paths/moved.ts'
import { isVersion } from '../../core/version.ts'
import { findCard } from '../../generator/records/pages/cards.ts'
import { findRelease } from '../../generator/records/releases.ts'
import { refuseDeleted } from '../../generator/records/tombstones.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { missingOfCrate } from '../../site/pages/not-found.ts'
import type { OpenHandler } from '../access/route.ts'
import { leadTo, page, redirect, wantsPage } from '../http/page.ts'
import { decodePath, type TreeFiles } from './public-files.ts'

const CRATES = `/${CRATES_FOLDER}/`
const BELOW_CRATE = new RegExp(`^/${CRATES_FOLDER}/([^/]+)(/.*)?$`)

/** Returns what answers for files that do not exist: `elsewhere`, or a page or an error. */
export function missingFile(
  registry: Registry,
  files: TreeFiles,
  elsewhere: (c: Context) => Promise<Response | null>,
): OpenHandler {
  return async c => (await elsewhere(c)) ?? missing(registry, files, c)
}

/**
 * Answers a request for a file that does not exist. Redirects every client below another spelling
 * of a crate (`Some_Crate`) to that crate, and from pages about files that older programs wrote.
 * Otherwise shows browsers the 404 page, which names the crate if only a page or version of it is
 * missing.
 */
async function missing(registry: Registry, files: TreeFiles, c: Context): Promise<Response> {
  const [, name = '', rest = '/'] = BELOW_CRATE.exec(c.req.path) ?? []
  // The name of a `.crate` contains that of the crate, so a redirect would lead nowhere.
  const isPage = isName(name) && !rest.endsWith('.crate')
  const crate = isPage ? await findCard(registry.database, name) : null
  if (crate === null || crate.name === name) {
    const moved = crate && registry.site.source ? movedPath(c.req.path.slice(CRATES.length)) : null
    if (crate && moved && (await hasVersion(registry, crate.id, moved.split('/')[1] ?? '')))
      return leadTo(c, registry.site, CRATES + moved, 301)
    const release = releaseOfPath(decodePath(c.req.path) ?? '')
    if (release) await refuseDeleted(registry.database, release.name, release.version)
    if (!wantsPage(c)) refuse('route_unknown')
    if (crate === null) return (await files.missing(c)) ?? refuse('route_unknown')
    return page(c, registry.site, missingOfCrate(registry.site, name), 404)
  }
  const search = new URL(c.req.url).search
  return redirect(c, registry.site, `/${CRATES_FOLDER}/${crate.name}${rest}${search}`)
}

async function hasVersion({ database }: Registry, crateId: number, version: string) {
  if (version === 'compare') return true
  return isVersion(version) && (await findRelease(database, crateId, version)) !== null
}
