import { canonicalName, type Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { newestVersion, type Version } from '../../core/version.ts'
import { previousOf, renderCratePage, renderVersionPage } from '../render/crate-pages.ts'
import { type CrateFacts, renderCrateRecord } from '../render/crate-record.ts'
import { renderCrateFeed } from '../render/feed.ts'
import { packagedReadme, type WholeRelease } from '../render/version-facts.ts'
import { renderReadme } from '../sandbox/readme.ts'
import { readCrate } from '../store/catalog/crates.ts'
import { listOwners } from '../store/catalog/owners.ts'
import { countDependents, readDependents } from '../store/catalog/pages/dependents.ts'
import { readFailure, writeFailure } from '../store/catalog/pages/plain-pages.ts'
import {
  findRelease,
  listReleases,
  listVersions,
  type ReleaseRecord,
  readReadme,
  readRelease,
} from '../store/catalog/releases.ts'
import { PAGE_FORMAT, type PageContext } from './context.ts'

/** Most dependents that a crate's page names; a popular crate has thousands. */
const DEPENDENTS_SHOWN = 100

/** The pages of a crate, without those of its versions; none of a crate without versions. */
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
  return { name, release, readme: await readmeOf(context, release), previous }
}

/** The README of a release as HTML; null without one. */
async function readmeOf(
  { database, site }: PageContext,
  { id, about }: ReleaseRecord,
): Promise<string | null> {
  const text = await readReadme(database, id)
  if (text === null) return null
  const part = { releaseId: id, what: 'readme', format: PAGE_FORMAT } as const
  const known = await readFailure(database, part)
  const { html, failure } = await renderReadme(packagedReadme(about, text, site), known)
  if (failure && !known) await writeFailure(database, part, failure)
  return html
}
