import { countDependents } from '../store/catalog/pages/dependents.ts'
import { pageDependents, pageOwners, releaseOfPage, versionIds } from '../store/catalog/pages/page-facts.ts'
import type { ReleaseRecord } from '../store/catalog/record.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { type CrateFacts, renderCrateRecord } from '../render/crate-record.ts'
import { previousOf, renderCratePage, renderVersionPage } from '../render/crate-pages.ts'
import { renderCrateFeed } from '../render/feed.ts'
import type { WholeRelease } from '../render/version-facts.ts'
import { newestVersion, type Version } from '../../core/version.ts'
import type { PageShop } from './shop.ts'

/** Most dependents that a crate's page names; a popular crate has thousands. */
const DEPENDENTS_SHOWN = 100

/** What the tree says of one crate besides index, `.crate` files and versions; nothing of one without versions. */
export async function cratePages(shop: PageShop, crateId: number): Promise<Output[]> {
  const { catalog, database, urls, look } = shop
  const crate = await catalog.crate(crateId)
  if (!crate) return []
  const releases = await catalog.releases(crateId)
  const newest = newestVersion(releases)
  if (!newest) return []
  const canonical = canonicalName(crate.name)
  const dependents = await countDependents(database, canonical)
  const facts: CrateFacts = { name: crate.name, createdAt: crate.createdAt, releases, dependents }
  const whole = {
    crate: facts,
    newest: await wholeRelease(shop, crate.name, newest, previousOf(releases, newest.version)),
    owners: look.owners ? await pageOwners(database, crateId) : [],
    dependents: await pageDependents(database, canonical, DEPENDENTS_SHOWN),
  }
  return [renderCrateRecord(facts, urls.dl), renderCrateFeed(look.site, facts), renderCratePage(whole, urls.dl, look)]
}

/** The page of one release; nothing of one that is gone. */
export async function releasePages(shop: PageShop, releaseId: number): Promise<Output[]> {
  const found = await releaseOfPage(shop.database, releaseId)
  if (!found) return []
  const { crate, release } = found
  const before = previousOf(await versionIds(shop.database, crate.id), release.version)
  const previous = before && (await shop.catalog.release(crate.id, before.version as Version))
  const whole = await wholeRelease(shop, crate.name, release, previous)
  return [renderVersionPage(whole, shop.urls.dl, shop.look)]
}

async function wholeRelease(
  shop: PageShop,
  name: Name,
  release: ReleaseRecord,
  previous: ReleaseRecord | null,
): Promise<WholeRelease> {
  return { name, release, readme: await shop.catalog.readme(release.id), previous }
}
