import * as v from 'valibot'
import { listReleases, type Registry } from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answer } from '../../http/answer.ts'
import { metaOf, pageMeta, pageQuery, sliceOf } from '../../http/paging.ts'
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
    return answer(c, {
      versions: page.map(one => versionView(card, one)),
      meta,
    } satisfies v.InferOutput<typeof versionsAnswer>)
  }
}

export const versionAnswer = v.object({ version: versionShape })

/** `GET /api/v1/crates/{name}/{version}`. */
export function version(registry: Registry): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    return answer(c, { version: versionView(card, release) } satisfies v.InferOutput<
      typeof versionAnswer
    >)
  }
}
