import * as v from 'valibot'
import { listReleases, type Registry, readReadme, refuse } from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answer, answerText } from '../../http/answer.ts'
import { metaOf, pageMeta, pageQuery, sliceOf } from '../../http/paging.ts'
import { dependencyShape, dependencyViews } from '../schema/dependency.ts'
import { versionShape, versionView } from '../schema/version.ts'
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

/**
 * `GET /api/v1/crates/{name}/{version}/readme`: the README as packaged, always as plain text, so
 * that it never runs under the registry's address.
 */
export function readme(registry: Registry): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    const text = await readReadme(registry.database, release.id)
    if (text === null)
      return refuse('readme_unknown', { name: card.name, version: release.version })
    return answerText(c, text, 'text/plain; charset=utf-8')
  }
}
