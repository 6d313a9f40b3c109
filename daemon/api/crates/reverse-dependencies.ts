import * as v from 'valibot'
import {
  type CanonicalName,
  type CrateCard,
  canonicalName,
  countDependents,
  findRelease,
  listDependents,
  type Name,
  type Registry,
  type ReleaseRecord,
  readCards,
} from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answer } from '../../http/answer.ts'
import { metaOf, pageMeta, pageQuery, sliceOf } from '../../http/paging.ts'
import { type DependencyShape, dependencyShape, dependencyViews } from '../schema/dependency.ts'
import { versionShape, versionView } from '../schema/version.ts'
import { foundCrate } from './found.ts'

export const reverseQuery = v.object(pageQuery)

export const reverseAnswer = v.object({
  dependencies: v.array(dependencyShape),
  versions: v.array(versionShape),
  meta: pageMeta,
})

/**
 * `GET /api/v1/crates/{name}/reverse_dependencies`: the crates whose newest version depends on this
 * one, by name, each once; `version_id` refers to `versions`.
 */
export function reverseDependencies(registry: Registry): OpenHandler {
  const { database } = registry
  return async c => {
    const query = v.parse(reverseQuery, c.req.query())
    const name = canonicalName((await foundCrate(registry, c)).name)
    const total = await countDependents(database, name)
    const cards = await readCards(database, await listDependents(database, name, sliceOf(query)))
    const releases = await Promise.all(cards.map(card => newestOf(registry, card)))
    return answer<typeof reverseAnswer>(c, {
      dependencies: releases.flatMap(({ release }) => edge(release, name) ?? []),
      versions: releases.map(({ card, release }) => versionView(card, release)),
      meta: metaOf(c.req.url, query, total),
    })
  }
}

async function newestOf(
  registry: Registry,
  card: CrateCard,
): Promise<{ card: CrateCard; release: ReleaseRecord }> {
  const release = await findRelease(registry.database, card.id, card.newest)
  if (!release)
    throw new Error(`the listing of ${card.name} names ${card.newest}, which is not there`)
  return { card, release }
}

/** How a version depends on a crate: preferably as a normal, then as a build dependency. */
function edge(release: ReleaseRecord, name: CanonicalName): DependencyShape | undefined {
  const ours = dependencyViews(release).filter(
    one => one.registry === null && canonicalName(one.crate_id as Name) === name,
  )
  const kinds = ['normal', 'build', 'dev'] as const
  return ours.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))[0]
}
