import * as v from 'valibot'
import { listReleases, type Registry } from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answer } from '../../http/answer.ts'
import {
  categoryShape,
  categoryViews,
  crateShape,
  crateView,
  keywordShape,
  keywordViews,
} from '../schema/crate.ts'
import { versionShape, versionView } from '../schema/version.ts'
import { foundCrate, newestFirst } from './found.ts'

/** `include`: the parts to answer with, comma-separated; default: all of them. */
export const crateQuery = v.object({ include: v.optional(v.string()) })

export const crateAnswer = v.object({
  crate: crateShape,
  versions: v.nullable(v.array(versionShape)),
  keywords: v.nullable(v.array(keywordShape)),
  categories: v.nullable(v.array(categoryShape)),
})

/** `GET /api/v1/crates/{name}`: a crate with its versions, newest first. */
export function crate(registry: Registry): OpenHandler {
  return async c => {
    const { include } = v.parse(crateQuery, c.req.query())
    const parts = new Set((include ?? 'full').split(',').map(one => one.trim()))
    const wants = (part: string) => parts.has('full') || parts.has(part)
    const card = await foundCrate(registry, c)
    const releases = wants('versions')
      ? newestFirst(await listReleases(registry.database, card.id))
      : null
    const more = {
      taxonomy: wants('keywords') || wants('categories'),
      exact: true,
      ...(releases && { versions: releases.map(one => one.id) }),
    }
    return answer<typeof crateAnswer>(c, {
      crate: crateView(card, more),
      versions: releases?.map(one => versionView(card, one)) ?? null,
      keywords: wants('keywords') ? keywordViews(card) : null,
      categories: wants('categories') ? categoryViews(card) : null,
    })
  }
}
