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
import { metaOf, sliceOf } from '../../http/paging.ts'
import * as schema from '../schema.ts'
import { foundCrate, foundVersion, newestFirst } from './found.ts'

/** `GET /api/v1/crates/{name}/versions`. */
export function versions(registry: Registry): OpenHandler {
  return async c => {
    const query = v.parse(schema.versionsQuery, c.req.query())
    const card = await foundCrate(registry, c)
    const releases = await listReleases(registry.database, card.id)
    const sorted = query.sort === 'date' ? releases.reverse() : newestFirst(releases)
    const isPaged = c.req.query('per_page') !== undefined
    const { limit, offset } = sliceOf(query)
    const page = isPaged ? sorted.slice(offset, offset + limit) : sorted
    const meta = isPaged
      ? metaOf(c.req.url, query, sorted.length)
      : { total: sorted.length, next_page: null, prev_page: null }
    return answer<typeof schema.versionsAnswer>(c, {
      versions: page.map(one => schema.versionView(card, one)),
      meta,
    })
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
    await foundCrate(registry, c)
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
