import type { Context } from 'hono'
import {
  type CrateCard,
  compareVersions,
  findCard,
  findRelease,
  isVersion,
  type Registry,
  type ReleaseRecord,
  refuse,
} from '../../../generator/index.ts'
import { crateOf } from '../../access/route.ts'

/** The card of the crate in the path. Refuses an unknown one. */
export function foundCrate(registry: Registry, c: Context): Promise<CrateCard> {
  return crateOf(registry, c, findCard)
}

/** The crate and the version in the path; build metadata has to match. */
export async function foundVersion(registry: Registry, c: Context) {
  const card = await foundCrate(registry, c)
  const version = c.req.param('version') ?? ''
  const release = isVersion(version) ? await findRelease(registry.database, card.id, version) : null
  if (release?.version !== version) return refuse('release_unknown', { name: card.name, version })
  return { card, release }
}

/** By precedence, highest first. */
export function newestFirst(releases: readonly ReleaseRecord[]): ReleaseRecord[] {
  return releases.toSorted((a, b) => compareVersions(b.version, a.version))
}
