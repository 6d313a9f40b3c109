import { type Dependency, dependencyNames } from '../../core/entry/entry.ts'
import { parseEntry } from '../../core/entry/parse.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import {
  crateKey,
  cratePath,
  sourceFolder,
  sourcePath,
  versionPath,
} from '../../core/paths/crates.ts'
import type { Output } from '../../core/paths/tree.ts'
import { compareVersions, newestVersion, type Version } from '../../core/version.ts'
import { versionPage } from '../../site/crate/page.ts'
import type { VersionData } from '../../site/crate-data.ts'
import { relativeLink } from '../../site/elements/links.ts'
import {
  DEPENDENTS_SHOWN,
  renderCratePages,
  renderCrateRecord,
  versionData,
} from '../render/crate.ts'
import { renderCrateFeed } from '../render/feed.ts'
import { unpackedLimit } from '../sandbox/archive.ts'
import { renderReadme, renderSource } from '../sandbox/rendering.ts'
import { listOwners, readCrate } from '../store/catalog/crates.ts'
import { hasDownloads } from '../store/catalog/downloads/read.ts'
import { type MarkSubject, marksOf } from '../store/catalog/marks.ts'
import {
  countDependents,
  listedNames,
  markNamesakes,
  readDependents,
} from '../store/catalog/pages/dependents.ts'
import { readFailure, writeFailure } from '../store/catalog/pages/plain-pages.ts'
import {
  findRelease,
  isNewest,
  listReleases,
  listVersions,
  type ReleaseRecord,
  readReadme,
  readRelease,
} from '../store/catalog/releases.ts'
import { PAGE_FORMAT, type PageContext } from './context.ts'
import { withImages } from './images.ts'

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
    here: await listedNames(database, namesElsewhere(parseEntry(newest.line).deps)),
    downloads: site.downloads && (await hasDownloads(database, crateId)),
  }
  const previous = previousOf(releases, newest.version)
  const { version, files } = await shownVersion(context, crate.name, newest, previous)
  return [
    ...files,
    renderCrateRecord(facts, site),
    renderCrateFeed(site, facts),
    ...renderCratePages(site, facts, version),
  ]
}

function namesElsewhere(deps: readonly Dependency[]): CanonicalName[] {
  return [...dependencyNames(deps)].flatMap(([name, isElsewhere]) => (isElsewhere ? name : []))
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
  const { version, files } = await shownVersion(context, crate.name, release, previous)
  return [...files, versionPage(site, version)]
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

/** Returns a release as its page shows it, and the images that the tree lacks. */
async function shownVersion(
  context: PageContext,
  name: Name,
  release: ReleaseRecord,
  previous: ReleaseRecord | null,
): Promise<{ readonly version: VersionData; readonly files: readonly Output[] }> {
  const { database, site, tree } = context
  const { id, about, version, cksum } = release
  const text = await readReadme(database, id)
  // The source pages are rendered last, so they may still be missing.
  const source = site.source && (await tree.has(sourcePath(name, version)))
  const data = (readme: string | null) =>
    versionData(site, name, release, { readme, previous, source })
  if (text === null) return { version: data(null), files: [] }
  const part = { releaseId: id, what: 'readme', format: PAGE_FORMAT } as const
  const known = await readFailure(database, part)
  const given = { text, about, images: site.images }
  const { readme, files } = await withImages(context, { id, name, cksum }, copies =>
    renderReadme({ ...given, copies }, known),
  )
  const { html, failure } = readme
  if (failure && !known) await writeFailure(database, part, failure)
  return { version: data(html), files }
}

/** Marks the pages that say whether this registry has a crate of the name of a dependency. */
export async function buildNamesakes({ database }: PageContext, crateId: number): Promise<void> {
  const crate = await readCrate(database, crateId)
  if (crate) await markNamesakes(database, canonicalName(crate.name))
}

/**
 * Writes the source pages of a release, which never change; removes them if the source browser is
 * off. Does nothing if the `.crate` is lost: `verify` reports that. Returns the marks of pages that
 * were rendered before and therefore do not link to the source yet.
 */
export async function buildSource(
  context: PageContext,
  releaseId: number,
): Promise<readonly MarkSubject[]> {
  const { database, crates, tree, site } = context
  const found = await readRelease(database, releaseId)
  if (!found) return []
  const { name, id: crateId } = found.crate
  const { version, cksum } = found.release
  if (!site.source) {
    await tree.removeFolder(sourceFolder(name, version))
    return []
  }
  const key = crateKey(name, cksum)
  const size = await crates.size(key)
  if (size === null) return []
  const part = { releaseId, what: 'source', format: PAGE_FORMAT } as const
  const known = await readFailure(database, part)
  const path = crates.path(key)
  const source = { path, name, version, site, unpackedBytes: unpackedLimit(size) }
  const pages = renderSource(source, known)
  let step = await pages.next()
  for (; !step.done; step = await pages.next()) await tree.write(step.value)
  if (step.value && step.value !== known) await writeFailure(database, part, step.value)
  const lacksLink = async (page: string) => {
    const link = relativeLink(page, sourcePath(name, version))
    return (await tree.read(page))?.includes(`href="${link}"`) === false
  }
  const isShown = await isNewest(database, crateId, releaseId)
  return [
    ...((await lacksLink(versionPath(name, version))) ? marksOf('release', [releaseId]) : []),
    ...(isShown && (await lacksLink(cratePath(name))) ? marksOf('page', [crateId]) : []),
  ]
}
