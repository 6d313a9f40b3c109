import { dependencyNames } from '../../../core/entry/entry.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { crateKey, imagePath } from '../../../core/paths/crates.ts'
import { type Output, output } from '../../../core/paths/tree.ts'
import { newestVersion, previousOf } from '../../../core/version.ts'
import { versionPage } from '../../../site/crate/page.ts'
import type { VersionData } from '../../../site/crate-data.ts'
import { pace } from '../../database/pace.ts'
import { listOwners } from '../../records/crates.ts'
import type { Mark } from '../../records/marks.ts'
import { listedNames, readDependents } from '../../records/pages/dependents.ts'
import { readFailure, writeFailure } from '../../records/pages/plain-pages.ts'
import {
  findRelease,
  listReleases,
  type ReleaseRecord,
  readReadme,
  readRelease,
} from '../../records/releases.ts'
import { unpackedLimit } from '../../sandbox/archive.ts'
import { renderReadme } from '../../sandbox/rendering.ts'
import { PAGE_FORMAT, type PageContext, remembered } from '../context.ts'
import { renderCrateFeed } from '../feed.ts'
import { listIdentities, type PageCrate } from './change.ts'
import { DEPENDENTS_SHOWN, renderCratePages, renderCrateRecord, versionData } from './render.ts'
import { sourcePages } from './source.ts'

/** Matches READMEs that show images; others need no `.crate`. */
const HAS_IMAGES = /!\[|<(?:img|source)\b/i

/**
 * Renders a crate's pages, except those of its versions; none if the crate has no versions. The
 * page of the newest version comes along if it is marked: both show the same README.
 */
export async function cratePages(
  context: PageContext,
  crate: PageCrate,
): Promise<{ readonly outputs: readonly Output[]; readonly newest?: Mark }> {
  const { database, site } = context
  const releases = await listReleases(database, crate.id)
  const newest = newestVersion(releases)
  if (!newest) return { outputs: [] }
  const previous = previousOf(releases, newest.version)
  const isSame = newest.id === crate.newestId
  const readme = isSame ? crate.readme : await readReadme(database, newest.id)
  const { version, files } = await shownVersion(context, crate.name, newest, previous, readme)
  await pace()
  const elsewhere = [...dependencyNames(version.deps)].flatMap(([name, isElsewhere]) =>
    isElsewhere ? name : [],
  )
  const facts = {
    name: crate.name,
    createdAt: crate.createdAt || null,
    releases,
    owners: site.owners ? await listOwners(database, crate.id) : [],
    dependents: crate.dependents
      ? await readDependents(database, canonicalName(crate.name), {
          count: crate.dependents,
          limit: DEPENDENTS_SHOWN,
        })
      : [],
    dependentCount: crate.dependents,
    namesakes: await listedNames(database, elsewhere),
    downloads: site.downloads && crate.hasDownloads === 1,
  }
  await pace()
  const outputs = [...files, renderCrateRecord(facts, site)]
  if (site.feeds) outputs.push(renderCrateFeed(site, facts.name, facts.releases))
  await pace()
  outputs.push(...renderCratePages(site, facts, version))
  await pace()
  if (crate.newestMark === null || !isSame) return { outputs }
  outputs.push(...(await versionPages(context, version)))
  return { outputs, newest: { kind: 'release', subject: newest.id, generation: crate.newestMark } }
}

/** Renders the page of one release; none if the release was deleted. */
export async function releasePages(context: PageContext, releaseId: number): Promise<Output[]> {
  const { database } = context
  const found = await readRelease(database, releaseId)
  if (!found) return []
  const { crate, release } = found
  const before = previousOf(await listIdentities(database, crate.id), release.version)
  const previous = before && (await findRelease(database, crate.id, before.version))
  const readme = await readReadme(database, releaseId)
  const { version, files } = await shownVersion(context, crate.name, release, previous, readme)
  await pace()
  return [...files, ...(await versionPages(context, version))]
}

async function versionPages(context: PageContext, version: VersionData): Promise<Output[]> {
  const page = versionPage(context.site, version)
  await pace()
  return [page, ...(await sourcePages(context, version))]
}

async function shownVersion(
  context: PageContext,
  name: Name,
  release: ReleaseRecord,
  previous: ReleaseRecord | null,
  text: string | null,
): Promise<{ readonly version: VersionData; readonly files: readonly Output[] }> {
  const { database, site, crates } = context
  const { id, about, cksum } = release
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
