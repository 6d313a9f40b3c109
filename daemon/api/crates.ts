import type { Context } from 'hono'
import * as v from 'valibot'
import type { Dependency } from '../../core/entry/entry.ts'
import { readEntry } from '../../core/entry/parse.ts'
import { refuse } from '../../core/error/error.ts'
import { type CanonicalName, canonicalName, isName, type Name } from '../../core/name.ts'
import { crateFilePath } from '../../core/paths/crates.ts'
import { isVersion, newestFirst } from '../../core/version.ts'
import {
  mostDownloaded,
  mostRecentlyDownloaded,
  NO_DOWNLOADS,
  registryDownloads,
} from '../../generator/records/downloads/read.ts'
import { listDependents } from '../../generator/records/listing.ts'
import { type CrateCard, findCard, readCards } from '../../generator/records/pages/cards.ts'
import {
  crateCount,
  cratesInOrder,
  updatedCrates,
} from '../../generator/records/pages/overviews.ts'
import {
  listVersions,
  readReadme,
  readSummaries,
  releaseDependencies,
} from '../../generator/records/releases.ts'
import { refuseDeleted } from '../../generator/records/releases-stored.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { crateOf } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import type { TreeFiles } from '../files/public-files.ts'
import type { StoredCrate } from '../files/stored-crate.ts'
import { answer, answerText } from '../http/answer.ts'
import { metaOf, sliceOf } from '../http/paging.ts'
import { type DependencyShape, dependencyViews } from './dependency-schema.ts'
import { foundVersion, numbersOf, releaseTotals, totalsOf, viewsOf } from './lookup.ts'
import * as schema from './schema.ts'

/** The longest index line that lists of versions read for its features. */
const LINE_MAX = 16_384

/** `GET /api/v1/crates/{name}`: a crate with its versions, newest first, without their features. */
export async function crate({ registry }: Deps, c: Context) {
  const { database } = registry
  const { include } = v.parse(schema.crateQuery, c.req.query())
  const parts = new Set((include ?? 'full').split(',').map(part => part.trim()))
  const wants = (part: string) => parts.has('full') || parts.has(part)
  const card = await crateOf(registry, c, findCard)
  const ids = wants('versions')
    ? newestFirst(await listVersions(database, card.id)).map(release => release.id)
    : null
  const releases = ids && (await readSummaries(database, ids, 0))
  const totals = ids ? await totalsOf(registry, card.id) : new Map<number, number>()
  const more = {
    downloads: (await numbersOf(registry, [card])).get(card.id),
    taxonomy: wants('keywords') || wants('categories'),
    exact: true,
    ...(ids && { versions: ids }),
  }
  return answer<typeof schema.crateAnswer>(c, {
    crate: schema.crateView(card, more),
    versions:
      releases?.map(release =>
        schema.versionView(registry.site, card, release, totals.get(release.id)),
      ) ?? null,
    keywords: wants('keywords') ? schema.keywordViews(card) : null,
    categories: wants('categories') ? schema.categoryViews(card) : null,
  })
}

const LENGTH = 10

/** `GET /api/v1/summary`: new, updated and most downloaded crates. */
export async function summary({ registry }: Deps, c: Context) {
  const { database, site, clock } = registry
  const view = (cards: readonly CrateCard[]) => viewsOf(registry, cards)
  const { total } = site.downloads ? await registryDownloads(database, clock()) : NO_DOWNLOADS
  const often = site.downloads ? await mostDownloaded(database, LENGTH) : []
  const lately = site.downloads ? await mostRecentlyDownloaded(database, LENGTH, clock()) : []
  return answer<typeof schema.summaryAnswer>(c, {
    num_crates: await crateCount(database),
    num_downloads: total,
    new_crates: await view(await cratesInOrder(database, 'newest', LENGTH)),
    just_updated: await view(await updatedCrates(database, LENGTH)),
    most_downloaded: await view(await readCards(database, often)),
    most_recently_downloaded: await view(await readCards(database, lately)),
    popular_keywords: [],
    popular_categories: [],
  })
}

/**
 * `GET /api/v1/crates/{name}/reverse_dependencies`: the crates whose newest version depends on this
 * one, sorted by name, each once; `version_id` refers to `versions`.
 */
export async function reverseDependencies({ registry }: Deps, c: Context) {
  const { database } = registry
  const query = v.parse(schema.reverseQuery, c.req.query())
  const crate = await crateOf(registry, c, findCard)
  const name = canonicalName(crate.name)
  const cards = await readCards(database, await listDependents(database, name, sliceOf(query)))
  const ids = cards.map(card => card.newestId)
  const releases = await readSummaries(database, ids, LINE_MAX)
  const dependencies = await releaseDependencies(database, ids)
  const numbers = await numbersOf(registry, cards)
  const totals = await releaseTotals(registry, ids)
  return answer<typeof schema.reverseAnswer>(c, {
    dependencies: cards.flatMap(({ id, newestId }) => {
      const dependency = edge(newestId, dependencies.get(newestId) ?? [], name)
      return dependency ? { ...dependency, downloads: numbers.get(id)?.total ?? 0 } : []
    }),
    versions: releases.flatMap((release, at) => {
      const card = cards[at]
      return card ? schema.versionView(registry.site, card, release, totals.get(release.id)) : []
    }),
    meta: metaOf(c.req.url, query, crate.dependents),
  })
}

/** Returns a version's dependency on a crate: first on this registry, then normal, then build. */
function edge(
  id: number,
  deps: readonly Dependency[],
  name: CanonicalName,
): DependencyShape | undefined {
  const ours = dependencyViews(id, deps).filter(
    ({ crate_id }) => canonicalName(crate_id as Name) === name,
  )
  const kinds = ['normal', 'build', 'dev'] as const
  const rank = ({ kind, registry: from }: DependencyShape) =>
    kinds.indexOf(kind) + 3 * Number(from !== null)
  return ours.sort((a, b) => rank(a) - rank(b))[0]
}

/** `GET /api/v1/crates/{name}/versions`; a long list of features is left out. */
export async function versions({ registry }: Deps, c: Context) {
  const { database } = registry
  const query = v.parse(schema.versionsQuery, c.req.query())
  const card = await crateOf(registry, c, findCard)
  const all = await listVersions(database, card.id)
  const sorted = query.sort === 'date' ? all.reverse() : newestFirst(all)
  const { limit, offset } = sliceOf(query)
  const ids = sorted.slice(offset, offset + limit).map(release => release.id)
  const totals = await releaseTotals(registry, ids)
  const releases = await readSummaries(database, ids, LINE_MAX)
  return answer<typeof schema.versionsAnswer>(c, {
    versions: releases.map(release =>
      schema.versionView(registry.site, card, release, totals.get(release.id)),
    ),
    meta: metaOf(c.req.url, query, sorted.length),
  })
}

function ofVersion<Answer extends v.GenericSchema>(
  view: (
    published: Awaited<ReturnType<typeof foundVersion>>,
    registry: Registry,
  ) => v.InferOutput<Answer> | Promise<v.InferOutput<Answer>>,
) {
  return async ({ registry }: Deps, c: Context) =>
    answer<Answer>(c, await view(await foundVersion(registry, c), registry))
}

/** `GET /api/v1/crates/{name}/{version}`. */
export const version = ofVersion<typeof schema.versionAnswer>(async (published, registry) => {
  const totals = await releaseTotals(registry, [published.release.id])
  const { card, release } = published
  return { version: schema.versionView(registry.site, card, release, totals.get(release.id)) }
})

/** `GET /api/v1/crates/{name}/{version}/dependencies`. */
export const dependencies = ofVersion<typeof schema.dependenciesAnswer>(({ release }) => {
  return { dependencies: dependencyViews(release.id, readEntry(release.line).deps) }
})

/** `GET …/{version}/readme`: always plain text, so that browsers never run its scripts. */
export async function readme({ registry }: Deps, c: Context) {
  const { card, release } = await foundVersion(registry, c)
  const of = { name: card.name, version: release.version }
  const text = (await readReadme(registry.database, release.id)) ?? refuse('readme_unknown', of)
  return answerText(c, text, 'text/plain; charset=utf-8')
}

/** `GET …/{version}/authors`: as in the manifest, for crates.io clients that still request it. */
export const authors = ofVersion<typeof schema.authorsAnswer>(({ release }) => {
  return { users: [], meta: { names: [...release.about.authors] } }
})

/** `GET …/{name}/{version}/download`: a `.crate`, also a yanked one, or a redirect to it. */
export function download(files: TreeFiles, stored: StoredCrate) {
  return async ({ registry }: Deps, c: Context) => {
    const { card, release } = await foundVersion(registry, c).catch(async (error: unknown) => {
      const [name = '', version = ''] = [c.req.param('name'), c.req.param('version')]
      if (isName(name) && isVersion(version)) await refuseDeleted(registry.database, name, version)
      throw error
    })
    const of = { name: card.name, version: release.version }
    const path = crateFilePath(of.name, of.version)
    const shown = (await files.serve(`/${path}`, c)) ?? (await stored(c, of))
    return shown ?? refuse('release_unknown', of)
  }
}
