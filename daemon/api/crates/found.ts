import type { Context } from 'hono'
import {
  type CrateCard,
  compareVersions,
  findCard,
  findRelease,
  isName,
  isVersion,
  type Registry,
  type ReleaseRecord,
  refuse,
} from '../../../generator/index.ts'

/** The crate in the path, by canonical name: `foo-bar` finds `foo_bar`. Refuses an unknown one. */
export async function foundCrate({ database }: Registry, c: Context): Promise<CrateCard> {
  const name = c.req.param('name') ?? ''
  const card = isName(name) ? await findCard(database, name) : null
  return card ?? refuse('crate_unknown', { name })
}

/** The crate and the version in the path; build metadata has to match. */
export async function foundVersion(
  registry: Registry,
  c: Context,
): Promise<{ card: CrateCard; release: ReleaseRecord }> {
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
