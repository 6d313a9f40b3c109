import { canonicalName, type Name } from '../../core/name.ts'
import { crateKey, sourceFolder } from '../../core/paths/crates.ts'
import type { Output } from '../../core/paths/tree.ts'
import { compareVersions, newestVersion, type Version } from '../../core/version.ts'
import { versionPage } from '../../site/crate/page.ts'
import type { VersionData } from '../../site/crate-data.ts'
import {
  DEPENDENTS_SHOWN,
  renderCratePage,
  renderCrateRecord,
  versionData,
} from '../render/crate.ts'
import { renderCrateFeed } from '../render/feed.ts'
import { renderReadme, renderSource } from '../sandbox/rendering.ts'
import { listOwners, readCrate } from '../store/catalog/crates.ts'
import { hasDownloads } from '../store/catalog/downloads/read.ts'
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

/** Renders a crate's pages, except those of its versions; none if the crate has no versions. */
export async function cratePages(context: PageContext, crateId: number): Promise<Output[]> {
  const { database, site } = context
  const crate = await readCrate(database, crateId)
  const releases = crate ? await listReleases(database, crateId) : []
  const newest = newestVersion(releases)
  if (!crate || !newest) return []
  const canonical = canonicalName(crate.name)
  const facts = {
    name: crate.name,
    createdAt: crate.createdAt,
    releases,
    owners: site.owners ? await listOwners(database, crateId) : [],
    dependents: await readDependents(database, canonical, DEPENDENTS_SHOWN),
    dependentCount: await countDependents(database, canonical),
    downloads: site.downloads && (await hasDownloads(database, crateId)),
  }
  const previous = previousOf(releases, newest.version)
  return [
    renderCrateRecord(facts, site),
    renderCrateFeed(site, facts),
    renderCratePage(site, facts, await shownVersion(context, crate.name, newest, previous)),
  ]
}

/** Renders the page of one release; none if the release was deleted. */
export async function releasePages(context: PageContext, releaseId: number): Promise<Output[]> {
  const { database, site } = context
  const found = await readRelease(database, releaseId)
  if (!found) return []
  const { crate, release } = found
  // Versions only: there may be thousands of releases, each with an index line.
  const before = previousOf(await listVersions(database, crate.id), release.version)
  const previous = before && (await findRelease(database, crate.id, before.version))
  return [versionPage(site, await shownVersion(context, crate.name, release, previous))]
}

/** Returns the release that precedes a version by SemVer precedence, yanked or not. */
function previousOf<T extends { readonly version: Version }>(
  releases: readonly T[],
  version: Version,
): T | null {
  return releases
    .filter(one => compareVersions(one.version, version) < 0)
    .reduce<T | null>(
      (best, one) => (best && compareVersions(best.version, one.version) > 0 ? best : one),
      null,
    )
}

/** Returns a release as its page shows it. */
async function shownVersion(
  { database, site }: PageContext,
  name: Name,
  release: ReleaseRecord,
  previous: ReleaseRecord | null,
): Promise<VersionData> {
  const { id, about } = release
  const text = await readReadme(database, id)
  if (text === null) return versionData(site, name, release, null, previous)
  const part = { releaseId: id, what: 'readme', format: PAGE_FORMAT } as const
  const known = await readFailure(database, part)
  const { html, failure } = await renderReadme({ text, about, images: site.images }, known)
  if (failure && !known) await writeFailure(database, part, failure)
  return versionData(site, name, release, html, previous)
}

/** Cargo's own limits for unpacking (`sources/registry/mod.rs`). */
const UNPACKED_MAX = 512 * 1024 * 1024
const RATIO_MAX = 20

/**
 * Writes the source pages of a release, which never change; removes them if the source browser is
 * off. Does nothing if the `.crate` is lost: `verify` reports that.
 */
export async function buildSource(context: PageContext, releaseId: number): Promise<void> {
  const { database, crates, tree, site } = context
  const found = await readRelease(database, releaseId)
  if (!found) return
  const { name } = found.crate
  const { version, cksum } = found.release
  if (!site.source) return tree.removeFolder(sourceFolder(name, version))
  const key = crateKey(name, cksum)
  const size = await crates.size(key)
  if (size === null) return
  const unpackedBytes = Math.max(UNPACKED_MAX, RATIO_MAX * size)
  const part = { releaseId, what: 'source', format: PAGE_FORMAT } as const
  const known = await readFailure(database, part)
  const source = { path: crates.path(key), name, version, site, unpackedBytes }
  const pages = renderSource(source, known)
  let step = await pages.next()
  for (; !step.done; step = await pages.next()) await tree.write(step.value)
  if (step.value && step.value !== known) await writeFailure(database, part, step.value)
}
