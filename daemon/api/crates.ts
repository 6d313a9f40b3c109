import type { Context } from 'hono'
import * as v from 'valibot'
import {
  type CanonicalName,
  type CrateCard,
  canonicalName,
  compareVersions,
  countDependents,
  crateCount,
  crateFilePath,
  type Database,
  findCard,
  findRelease,
  isName,
  isNamed,
  isVersion,
  listDependents,
  listReleases,
  type Name,
  newCrates,
  type Registry,
  type ReleaseRecord,
  readCards,
  readReadme,
  refuse,
  searchCrates,
  updatedCrates,
} from '../../generator/index.ts'
import { crateOf, type OpenHandler } from '../access/route.ts'
import type { PublicFiles } from '../files/public-files.ts'
import { answer, answerText } from '../http/answer.ts'
import { metaOf, sliceOf } from '../http/paging.ts'
import * as schema from './schema.ts'

/** `GET /api/v1/crates/{name}`: a crate with its versions, newest first. */
export function crate(registry: Registry): OpenHandler {
  return async c => {
    const { include } = v.parse(schema.crateQuery, c.req.query())
    const parts = new Set((include ?? 'full').split(',').map(one => one.trim()))
    const wants = (part: string) => parts.has('full') || parts.has(part)
    const card = await crateOf(registry, c, findCard)
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
    const name = canonicalName((await crateOf(registry, c, findCard)).name)
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

/** `GET /api/v1/crates/{name}/versions`. */
export function versions(registry: Registry): OpenHandler {
  return async c => {
    const query = v.parse(schema.versionsQuery, c.req.query())
    const card = await crateOf(registry, c, findCard)
    const releases = await listReleases(registry.database, card.id)
    const sorted = query.sort === 'date' ? releases.reverse() : newestFirst(releases)
    const isPaged = c.req.query('per_page') !== undefined
    const { limit, offset } = sliceOf(query)
    const page = isPaged ? sorted.slice(offset, offset + limit) : sorted
    const meta = isPaged
      ? metaOf(c.req.url, query, sorted.length)
      : { total: sorted.length, next_page: null, prev_page: null }
    const views = page.map(one => schema.versionView(card, one))
    return answer<typeof schema.versionsAnswer>(c, { versions: views, meta })
  }
}

/** Creates a handler that answers with JSON about the version in the path. */
function ofVersion<Answer extends v.GenericSchema>(
  view: (found: Awaited<ReturnType<typeof foundVersion>>) => v.InferOutput<Answer>,
) {
  return (registry: Registry): OpenHandler =>
    async c =>
      answer<Answer>(c, view(await foundVersion(registry, c)))
}

/** `GET /api/v1/crates/{name}/{version}`. */
export const version = ofVersion<typeof schema.versionAnswer>(({ card, release }) => {
  return { version: schema.versionView(card, release) }
})

/** `GET /api/v1/crates/{name}/{version}/dependencies`. */
export const dependencies = ofVersion<typeof schema.dependenciesAnswer>(({ release }) => {
  return { dependencies: schema.dependencyViews(release) }
})

/** `GET …/{version}/readme`: always plain text, so that browsers never run its scripts. */
export function readme(registry: Registry): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    const of = { name: card.name, version: release.version }
    const text = (await readReadme(registry.database, release.id)) ?? refuse('readme_unknown', of)
    return answerText(c, text, 'text/plain; charset=utf-8')
  }
}

/** `GET …/{name}/downloads`: always empty, for crates.io clients that request it. */
export function crateDownloads(registry: Registry): OpenHandler {
  return async c => {
    await crateOf(registry, c, findCard)
    const meta = { extra_downloads: [] }
    return answer<typeof schema.downloadsAnswer>(c, { version_downloads: [], meta })
  }
}

/** `GET …/{name}/{version}/downloads`. */
export const versionDownloads = ofVersion<typeof schema.downloadsAnswer>(() => {
  return { version_downloads: [] }
})

/** `GET …/{version}/authors`: as in the manifest, for crates.io clients that still request it. */
export const authors = ofVersion<typeof schema.authorsAnswer>(({ release }) => {
  return { users: [], meta: { names: [...release.about.authors] } }
})

/** `GET …/{name}/{version}/download`: the `.crate` itself, yanked or not, never redirected. */
export function download(registry: Registry, files: PublicFiles): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    const of = { name: card.name, version: release.version }
    const path = crateFilePath(of.name, of.version)
    return files.serve(`/${path}`, c.req) ?? refuse('release_unknown', of)
  }
}

/** Returns the crate and the version in the path; build metadata must match. */
async function foundVersion(registry: Registry, c: Context) {
  const card = await crateOf(registry, c, findCard)
  const version = c.req.param('version') ?? ''
  const release = isVersion(version) ? await findRelease(registry.database, card.id, version) : null
  if (release?.version !== version) return refuse('release_unknown', { name: card.name, version })
  return { card, release }
}

/** Sorts releases by SemVer precedence, highest first. */
function newestFirst(releases: readonly ReleaseRecord[]): ReleaseRecord[] {
  return releases.toSorted((a, b) => compareVersions(b.version, a.version))
}
