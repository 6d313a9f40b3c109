import { type Dependency, dependencyNames } from '../../../core/entry/entry.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import { crateKey, imagePath } from '../../../core/paths/crates.ts'
import { type Output, output } from '../../../core/paths/tree.ts'
import { newestVersion, previousOf } from '../../../core/version.ts'
import { versionPage } from '../../../site/crate/page.ts'
import type { VersionData } from '../../../site/crate-data.ts'
import { pace } from '../../database/pace.ts'
import { listOwners, readCrate } from '../../records/crates.ts'
import { hasDownloads } from '../../records/downloads/read.ts'
import { countDependents, listedNames, readDependents } from '../../records/pages/dependents.ts'
import { readFailure, writeFailure } from '../../records/pages/plain-pages.ts'
import {
  findRelease,
  listReleases,
  listVersions,
  type ReleaseRecord,
  readReadme,
  readRelease,
} from '../../records/releases.ts'
import { unpackedLimit } from '../../sandbox/archive.ts'
import { renderReadme } from '../../sandbox/rendering.ts'
import { PAGE_FORMAT, type PageContext, remembered } from '../context.ts'
import { renderCrateFeed } from '../feed.ts'
import { DEPENDENTS_SHOWN, renderCratePages, renderCrateRecord, versionData } from './render.ts'
import { sourcePages } from './source.ts'

/** What a README must have to show an image; without one, no `.crate` has to be fetched. */
const HAS_IMAGES = /!\[|<(?:img|source)\b/i

/**
 * Renders a crate's pages, except those of its versions; none if the crate has no versions. The
 * page of `releaseId` comes along if that is the newest version: both show the same README.
 */
export async function cratePages(
  context: PageContext,
  crateId: number,
  releaseId: number | null = null,
): Promise<Output[]> {
  const { database, site } = context
  const crate = await readCrate(database, crateId)
  const releases = crate ? await listReleases(database, crateId) : []
  const newest = newestVersion(releases)
  if (!crate || !newest) return []
  const previous = previousOf(releases, newest.version)
  const { version, files } = await shownVersion(context, crate.name, newest, previous)
  await pace()
  const canonical = canonicalName(crate.name)
  const facts = {
    name: crate.name,
    createdAt: crate.createdAt || null,
    releases,
    owners: site.owners ? await listOwners(database, crateId) : [],
    dependents: await readDependents(database, canonical, DEPENDENTS_SHOWN),
    dependentCount: await countDependents(database, canonical),
    namesakes: await listedNames(database, namesElsewhere(version.deps)),
    downloads: site.downloads && (await hasDownloads(database, crateId)),
  }
  await pace()
  const outputs = [...files, renderCrateRecord(facts, site)]
  if (site.feeds) outputs.push(renderCrateFeed(site, facts))
  await pace()
  outputs.push(...renderCratePages(site, facts, version))
  await pace()
  if (newest.id === releaseId) outputs.push(...(await versionPages(context, version)))
  return outputs
}

function namesElsewhere(deps: readonly Dependency[]): CanonicalName[] {
  return [...dependencyNames(deps)].flatMap(([name, isElsewhere]) => (isElsewhere ? name : []))
}

/** Renders the page of one release; none if the release was deleted. */
export async function releasePages(context: PageContext, releaseId: number): Promise<Output[]> {
  const { database } = context
  const found = await readRelease(database, releaseId)
  if (!found) return []
  const { crate, release } = found
  // Versions only: there may be thousands of releases, each with an index line.
  const before = previousOf(await listVersions(database, crate.id), release.version)
  const previous = before && (await findRelease(database, crate.id, before.version))
  const { version, files } = await shownVersion(context, crate.name, release, previous)
  await pace()
  return [...files, ...(await versionPages(context, version))]
}

async function versionPages(context: PageContext, version: VersionData): Promise<Output[]> {
  const page = versionPage(context.site, version)
  await pace()
  return [page, ...(await sourcePages(context, version))]
}

/** Returns a release as its page shows it, and the images of its README. */
async function shownVersion(
  context: PageContext,
  name: Name,
  release: ReleaseRecord,
  previous: ReleaseRecord | null,
): Promise<{ readonly version: VersionData; readonly files: readonly Output[] }> {
  const { database, site, crates } = context
  const { id, about, cksum } = release
  const text = await readReadme(database, id)
  const data = (readme: string | null) => versionData(site, name, release, { readme, previous })
  if (text === null) return { version: data(null), files: [] }
  const known = await readFailure(database, id, PAGE_FORMAT)
  const file = HAS_IMAGES.test(text) ? await crates.localFile(crateKey(name, cksum)) : null
  const crate = file && { path: file.path, unpackedBytes: unpackedLimit(file.size) }
  const readme = { text, about, images: site.images }
  const key = ['readme', cksum, site.images]
  const work = () => renderReadme({ readme, crate }, known)
  const { html, files: images, failure } = await remembered(context, key, work)
  if (failure && !known) await writeFailure(database, id, PAGE_FORMAT, failure)
  const files = images.map(({ name: image, bytes }) =>
    output(imagePath(name, release.version, image), Buffer.from(bytes)),
  )
  return { version: data(html), files }
}
