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

/** Returns the card of the crate in the path; refuses an unknown crate. */
export function foundCrate(registry: Registry, c: Context): Promise<CrateCard> {
  return crateOf(registry, c, findCard)
}

/** Returns the crate and the version in the path; build metadata must match. */
export async function foundVersion(registry: Registry, c: Context) {
  const card = await foundCrate(registry, c)
  const version = c.req.param('version') ?? ''
  const release = isVersion(version) ? await findRelease(registry.database, card.id, version) : null
  if (release?.version !== version) return refuse('release_unknown', { name: card.name, version })
  return { card, release }
}

/** Sorts releases by SemVer precedence, highest first. */
export function newestFirst(releases: readonly ReleaseRecord[]): ReleaseRecord[] {
  return releases.toSorted((a, b) => compareVersions(b.version, a.version))
}
