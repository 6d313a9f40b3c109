import { canonicalName, type Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { newestVersion, type Version } from '../../core/version.ts'
import { renderReadme } from '../../site/readme/readme.ts'
import { previousOf, renderCratePage, renderVersionPage } from '../render/crate-pages.ts'
import { type CrateFacts, renderCrateRecord } from '../render/crate-record.ts'
import { renderCrateFeed } from '../render/feed.ts'
import { packagedReadme, type WholeRelease } from '../render/version-facts.ts'
import { countDependents } from '../store/catalog/pages/dependents.ts'
import {
  pageDependents,
  pageOwners,
  releaseOfPage,
  versionIds,
} from '../store/catalog/pages/page-facts.ts'
import type { ReleaseRecord } from '../store/catalog/record.ts'
import type { PageContext } from './context.ts'

/** Most dependents that a crate's page names; a popular crate has thousands. */
const DEPENDENTS_SHOWN = 100

/** What the tree says of one crate besides index, `.crate` files and versions; nothing of one without versions. */
export async function cratePages(context: PageContext, crateId: number): Promise<Output[]> {
  const { catalog, database, urls, site } = context
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
    newest: await wholeRelease(context, crate.name, newest, previousOf(releases, newest.version)),
    owners: site.owners ? await pageOwners(database, crateId) : [],
    dependents: await pageDependents(database, canonical, DEPENDENTS_SHOWN),
  }
  return [
    renderCrateRecord(facts, urls.dl),
    renderCrateFeed(site, facts),
    renderCratePage(whole, urls.dl, site),
  ]
}

/** The page of one release; nothing of one that is gone. */
export async function releasePages(context: PageContext, releaseId: number): Promise<Output[]> {
  const found = await releaseOfPage(context.database, releaseId)
  if (!found) return []
  const { crate, release } = found
  const before = previousOf(await versionIds(context.database, crate.id), release.version)
  const previous = before && (await context.catalog.release(crate.id, before.version as Version))
  const whole = await wholeRelease(context, crate.name, release, previous)
  return [renderVersionPage(whole, context.urls.dl, context.site)]
}

async function wholeRelease(
  context: PageContext,
  name: Name,
  release: ReleaseRecord,
  previous: ReleaseRecord | null,
): Promise<WholeRelease> {
  const text = await context.catalog.readme(release.id)
  const facts = text === null ? null : packagedReadme(release.about, text, context.site)
  return { name, release, readme: facts && renderReadme(facts), previous }
}
