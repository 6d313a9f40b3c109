import * as v from 'valibot'
import type { Registry } from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answer } from '../../http/answer.ts'
import { foundCrate, foundVersion } from './found.ts'

export const downloadsAnswer = v.object({
  version_downloads: v.array(v.never()),
  meta: v.optional(v.object({ extra_downloads: v.array(v.never()) })),
})

/** `GET …/{name}/downloads`: clients of crates.io ask for it; nothing is counted here. */
export function crateDownloads(registry: Registry): OpenHandler {
  return async c => {
    await foundCrate(registry, c)
    return answer<typeof downloadsAnswer>(c, {
      version_downloads: [],
      meta: { extra_downloads: [] },
    })
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
    const names = [...release.about.authors]
    return answer<typeof authorsAnswer>(c, { users: [], meta: { names } })
  }
}
