import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { isVersion } from '../../core/version.ts'
import {
  downloadNumbers,
  RELEASE_ROWS,
  readDownloads,
  versionTotals,
} from '../../generator/records/downloads/read.ts'
import { type CrateCard, findCard } from '../../generator/records/pages/cards.ts'
import { findRelease } from '../../generator/records/releases.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { crateOf } from '../access/route.ts'
import { crateView } from './schema.ts'

/** Returns the crate and the version in the path; build metadata must match. */
export async function foundVersion(registry: Registry, c: Context) {
  const card = await crateOf(registry, c, findCard)
  const version = c.req.param('version') ?? ''
  const release = isVersion(version) ? await findRelease(registry.database, card.id, version) : null
  if (release?.version !== version) return refuse('release_unknown', { name: card.name, version })
  return { card, release }
}

/** Returns views of crates with their downloads. */
export async function viewsOf(
  registry: Registry,
  cards: readonly CrateCard[],
  isExact: (card: CrateCard) => boolean = () => false,
) {
  const numbers = await numbersOf(registry, cards)
  return cards.map(card =>
    crateView(card, { exact: isExact(card), downloads: numbers.get(card.id) }),
  )
}

/** Returns the downloads of crates by id; none if the registry does not count them. */
export async function numbersOf({ database, site, clock }: Registry, cards: readonly CrateCard[]) {
  const ids = site.downloads ? cards.map(card => card.id) : []
  return downloadNumbers(database, ids, clock())
}

/** Returns the total downloads of the versions of a crate by id. */
export async function totalsOf({ database, site }: Registry, crateId: number) {
  return site.downloads ? versionTotals(database, crateId) : new Map<number, number>()
}

/** Returns the total downloads of some releases by id. */
export async function releaseTotals({ database, site }: Registry, ids: readonly number[]) {
  const downloads = await readDownloads(database, RELEASE_ROWS, site.downloads ? ids : [])
  return new Map(Array.from(downloads, ([id, { total }]) => [id, total]))
}
