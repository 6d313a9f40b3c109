import * as v from 'valibot'
import {
  type CanonicalName,
  type CrateCard,
  canonicalName,
  countDependents,
  crateCount,
  type Database,
  findRelease,
  isName,
  isNamed,
  listDependents,
  listReleases,
  type Name,
  newCrates,
  type Registry,
  type ReleaseRecord,
  readCards,
  searchCrates,
  updatedCrates,
} from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answer } from '../../http/answer.ts'
import { metaOf, sliceOf } from '../../http/paging.ts'
import * as schema from '../schema.ts'
import { foundCrate, newestFirst } from './found.ts'

/** `GET /api/v1/crates/{name}`: a crate with its versions, newest first. */
export function crate(registry: Registry): OpenHandler {
  return async c => {
    const { include } = v.parse(schema.crateQuery, c.req.query())
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
    return answer<typeof schema.crateAnswer>(c, {
      crate: schema.crateView(card, more),
      versions: releases?.map(one => schema.versionView(card, one)) ?? null,
      keywords: wants('keywords') ? schema.keywordViews(card) : null,
      categories: wants('categories') ? schema.categoryViews(card) : null,
    })
  }
}

/** `GET /api/v1/crates`: crates in the order of `searchCrates`; `meta.total` counts all of them. */
export function search({ database }: Registry): OpenHandler {
  return async c => {
    const query = v.parse(schema.searchQuery, c.req.query())
    const text = query.q.replaceAll('+', ' ').trim()
    const { ids, total } = await searchCrates(database, text, sliceOf(query))
    const exact = isName(text) ? canonicalName(text) : null
    const crates = (await readCards(database, ids)).map(card =>
      schema.crateView(card, { exact: exact !== null && isNamed(card, exact) }),
    )
    return answer<typeof schema.searchAnswer>(c, { crates, meta: metaOf(c.req.url, query, total) })
  }
}

/** The length of each list. */
const LENGTH = 10

/** `GET /api/v1/summary`: new and updated crates. The lists by downloads are always empty. */
export function summary({ database }: Registry): OpenHandler {
  return async c => {
    const view = async (ids: readonly number[]) =>
      (await readCards(database, ids)).map(card => schema.crateView(card))
    return answer<typeof schema.summaryAnswer>(c, {
      num_crates: await crateCount(database),
      num_downloads: 0,
      new_crates: await view(await newCrates(database, LENGTH)),
      just_updated: await view(await updatedCrates(database, LENGTH)),
      most_downloaded: [],
      most_recently_downloaded: [],
      popular_keywords: [],
      popular_categories: [],
    })
  }
}

/**
 * `GET /api/v1/crates/{name}/reverse_dependencies`: the crates whose newest version depends on this
 * one, sorted by name, each once; `version_id` refers to `versions`.
 */
export function reverseDependencies(registry: Registry): OpenHandler {
  const { database } = registry
  return async c => {
    const query = v.parse(schema.reverseQuery, c.req.query())
    const name = canonicalName((await foundCrate(registry, c)).name)
    const total = await countDependents(database, name)
    const cards = await readCards(database, await listDependents(database, name, sliceOf(query)))
    const releases = await Promise.all(cards.map(card => newestOf(database, card)))
    return answer<typeof schema.reverseAnswer>(c, {
      dependencies: releases.flatMap(({ release }) => edge(release, name) ?? []),
      versions: releases.map(({ card, release }) => schema.versionView(card, release)),
      meta: metaOf(c.req.url, query, total),
    })
  }
}

async function newestOf(database: Database, card: CrateCard) {
  const release = await findRelease(database, card.id, card.newest)
  if (!release)
    throw new Error(`version ${card.newest} of ${card.name} is listed, but does not exist`)
  return { card, release }
}

/** Returns a version's dependency on a crate, preferring a normal, then a build dependency. */
function edge(release: ReleaseRecord, name: CanonicalName): schema.DependencyShape | undefined {
  const ours = schema
    .dependencyViews(release)
    .filter(one => one.registry === null && canonicalName(one.crate_id as Name) === name)
  const kinds = ['normal', 'build', 'dev'] as const
  return ours.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))[0]
}
