import * as v from 'valibot'
import {
  crateFilePath,
  listReleases,
  type Registry,
  readReadme,
  refuse,
} from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import type { PublicFiles } from '../../files/public-files.ts'
import { answer, answerText } from '../../http/answer.ts'
import { metaOf, pageMeta, pageQuery, sliceOf } from '../../http/paging.ts'
import { dependencyShape, dependencyViews, versionShape, versionView } from '../schema/version.ts'
import { foundCrate, foundVersion, newestFirst } from './found.ts'

/** Without `per_page`, all versions are one page; `sort=date` puts the latest publish first. */
export const versionsQuery = v.object({ sort: v.optional(v.string(), 'semver'), ...pageQuery })

export const versionsAnswer = v.object({ versions: v.array(versionShape), meta: pageMeta })

/** `GET /api/v1/crates/{name}/versions`. */
export function versions(registry: Registry): OpenHandler {
  return async c => {
    const query = v.parse(versionsQuery, c.req.query())
    const card = await foundCrate(registry, c)
    const releases = await listReleases(registry.database, card.id)
    const sorted = query.sort === 'date' ? releases.reverse() : newestFirst(releases)
    const isPaged = c.req.query('per_page') !== undefined
    const { limit, offset } = sliceOf(query)
    const page = isPaged ? sorted.slice(offset, offset + limit) : sorted
    const meta = isPaged
      ? metaOf(c.req.url, query, sorted.length)
      : { total: sorted.length, next_page: null, prev_page: null }
    return answer<typeof versionsAnswer>(c, {
      versions: page.map(one => versionView(card, one)),
      meta,
    })
  }
}

export const versionAnswer = v.object({ version: versionShape })

/** `GET /api/v1/crates/{name}/{version}`. */
export function version(registry: Registry): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    return answer<typeof versionAnswer>(c, { version: versionView(card, release) })
  }
}

export const dependenciesAnswer = v.object({ dependencies: v.array(dependencyShape) })

/** `GET /api/v1/crates/{name}/{version}/dependencies`. */
export function dependencies(registry: Registry): OpenHandler {
  return async c => {
    const { release } = await foundVersion(registry, c)
    return answer<typeof dependenciesAnswer>(c, { dependencies: dependencyViews(release) })
  }
}

/** `GET …/{version}/readme`: always plain text, so that it never runs under our address. */
export function readme(registry: Registry): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    const of = { name: card.name, version: release.version }
    const text = (await readReadme(registry.database, release.id)) ?? refuse('readme_unknown', of)
    return answerText(c, text, 'text/plain; charset=utf-8')
  }
}

export const downloadsAnswer = v.object({
  version_downloads: v.array(v.never()),
  meta: v.optional(v.object({ extra_downloads: v.array(v.never()) })),
})

/** `GET …/{name}/downloads`: clients of crates.io ask for it; nothing is counted here. */
export function crateDownloads(registry: Registry): OpenHandler {
  return async c => {
    await foundCrate(registry, c)
    const meta = { extra_downloads: [] }
    return answer<typeof downloadsAnswer>(c, { version_downloads: [], meta })
  }
}

/** `GET …/{name}/{version}/downloads`. */
export function versionDownloads(registry: Registry): OpenHandler {
  return async c => {
    await foundVersion(registry, c)
    return answer<typeof downloadsAnswer>(c, { version_downloads: [] })
  }
}

export const authorsAnswer = v.object({
  users: v.array(v.never()),
  meta: v.object({ names: v.array(v.string()) }),
})

/** `GET …/{name}/{version}/authors`: as in the manifest; clients of crates.io still ask for it. */
export function authors(registry: Registry): OpenHandler {
  return async c => {
    const { release } = await foundVersion(registry, c)
    const meta = { names: [...release.about.authors] }
    return answer<typeof authorsAnswer>(c, { users: [], meta })
  }
}

/** `GET …/{name}/{version}/download`: the `.crate` itself, yanked or not, never redirected. */
export function download(registry: Registry, files: PublicFiles): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    const of = { name: card.name, version: release.version }
    const path = crateFilePath(of.name, of.version)
    return files.serve(`/${path}`, c.req) ?? refuse('release_unknown', of)
  }
}
