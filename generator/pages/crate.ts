import { canonicalName, type Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { newestVersion, type Version } from '../../core/version.ts'
import { renderReadme } from '../../site/readme/readme.ts'
import { previousOf, renderCratePage, renderVersionPage } from '../render/crate-pages.ts'
import { type CrateFacts, renderCrateRecord } from '../render/crate-record.ts'
import { renderCrateFeed } from '../render/feed.ts'
import { packagedReadme, type WholeRelease } from '../render/version-facts.ts'
import { readCrate } from '../store/catalog/crates.ts'
import { listOwners } from '../store/catalog/owners.ts'
import { countDependents, readDependents } from '../store/catalog/pages/dependents.ts'
import {
  findRelease,
  listReleases,
  listVersions,
  type ReleaseRecord,
  readReadme,
  readRelease,
} from '../store/catalog/releases.ts'
import type { PageContext } from './context.ts'

/** Most dependents that a crate's page names; a popular crate has thousands. */
const DEPENDENTS_SHOWN = 100

/** What the tree says of one crate besides index, `.crate` files and versions; nothing of one without versions. */
export async function cratePages(context: PageContext, crateId: number): Promise<Output[]> {
  const { database, urls, site } = context
  const crate = await readCrate(database, crateId)
  if (!crate) return []
  const releases = await listReleases(database, crateId)
  const newest = newestVersion(releases)
  if (!newest) return []
  const canonical = canonicalName(crate.name)
  const dependents = await countDependents(database, canonical)
  const facts: CrateFacts = { name: crate.name, createdAt: crate.createdAt, releases, dependents }
  const whole = {
    crate: facts,
    newest: await wholeRelease(context, crate.name, newest, previousOf(releases, newest.version)),
    owners: site.owners ? await listOwners(database, crateId) : [],
    dependents: await readDependents(database, canonical, DEPENDENTS_SHOWN),
  }
  return [
    renderCrateRecord(facts, urls.dl),
    renderCrateFeed(site, facts),
    renderCratePage(whole, urls.dl, site),
  ]
}

/** The page of one release; nothing of one that is gone. */
export async function releasePages(context: PageContext, releaseId: number): Promise<Output[]> {
  const found = await readRelease(context.database, releaseId)
  if (!found) return []
  const { crate, release } = found
  const before = previousOf(await listVersions(context.database, crate.id), release.version)
  const previous =
    before && (await findRelease(context.database, crate.id, before.version as Version))
  const whole = await wholeRelease(context, crate.name, release, previous)
  return [renderVersionPage(whole, context.urls.dl, context.site)]
}

async function wholeRelease(
  context: PageContext,
  name: Name,
  release: ReleaseRecord,
  previous: ReleaseRecord | null,
): Promise<WholeRelease> {
  const text = await readReadme(context.database, release.id)
  const facts = text === null ? null : packagedReadme(release.about, text, context.site)
  return { name, release, readme: facts && renderReadme(facts), previous }
}
