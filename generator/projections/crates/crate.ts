import type { Advisory } from '../../../core/advisory/advisory.ts'
import { dependencyNames } from '../../../core/entry/entry.ts'
import { readEntry } from '../../../core/entry/parse.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { crateKey, crateRecordPath, imagePath, VERSIONS_SHOWN } from '../../../core/paths/crates.ts'
import { userPath } from '../../../core/paths/listings.ts'
import { type Output, output } from '../../../core/paths/tree.ts'
import { unpackedLimit } from '../../../core/tarball/recover.ts'
import { trustpubData } from '../../../core/trust/job.ts'
import { expandDl } from '../../../core/urls/download-url.ts'
import { newestFirst, newestVersion, previousOf } from '../../../core/version.ts'
import { badge } from '../../../site/crate/badge.ts'
import { cratePage, versionPage } from '../../../site/crate/page.ts'
import { latestPage, VERSIONS_MAX, versionsPage } from '../../../site/crate/versions.ts'
import type {
  ComparedVersion,
  CrateData,
  ListedVersion,
  VersionData,
} from '../../../site/crate-data.ts'
import { absoluteLink } from '../../../site/elements/links.ts'
import { linkBase } from '../../../site/readme/links.ts'
import type { SiteConfig } from '../../../site/site-config.ts'
import { comparePage } from '../../../site/source/page.ts'
import { pace } from '../../database/pace.ts'
import { advisoriesOn } from '../../records/advisories/read.ts'
import { spellings } from '../../records/crates.ts'
import { readDependents } from '../../records/listing.ts'
import type { Mark } from '../../records/marks.ts'
import { listOwners } from '../../records/owners.ts'
import type { PageCrate } from '../../records/pages/cards.ts'
import { readFailure, writeFailure } from '../../records/pages/plain-pages.ts'
import {
  findRelease,
  listIdentities,
  listReleases,
  type ReleaseRecord,
  readReadme,
  readRelease,
} from '../../records/releases.ts'
import { renderReadme } from '../../sandbox/rendering.ts'
import { PAGE_FORMAT, type PageContext, remembered } from '../context.ts'
import { renderCrateFeed } from '../feed.ts'
import { advisoryRecord, type ShownRelease, shown, textsOf } from './advisories.ts'
import { sourcePages } from './source.ts'

/** Matches READMEs that show images, or link to files; others need no `.crate`. */
const HAS_IMAGES = /!\[|<(?:img|source)\b/i
const HAS_LINKS = /(?:\]\(|\]:|\bhref\s*=)(?![\s"'<]*(?:#|https?:))/i

/**
 * Renders a crate's pages, except those of its versions; none if the crate has no versions. The
 * page of the newest version comes along if it is marked: both show the same README.
 */
export async function cratePages(
  context: PageContext,
  crate: PageCrate,
): Promise<{ readonly outputs: readonly Output[]; readonly newest?: Mark }> {
  const { database, site } = context
  const advisories = await advisoriesOn(database, crate, context.urls.own)
  const releases = (await listReleases(database, crate.id)).map(shown(site, advisories))
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
  const details = {
    name: crate.name,
    createdAt: crate.createdAt || null,
    releases,
    advisories,
    owners: site.owners ? await listOwners(database, crate.id) : [],
    dependents: crate.dependents
      ? await readDependents(database, canonicalName(crate.name), DEPENDENTS_SHOWN)
      : [],
    dependentCount: crate.dependents,
    namesakes: await spellings(database, elsewhere, 'listed'),
    downloads: site.downloads && crate.hasDownloads === 1,
  }
  await pace()
  const outputs = [...files, renderCrateRecord(details, site)]
  if (site.feeds) outputs.push(renderCrateFeed(site, details.name, details.releases, advisories))
  await pace()
  outputs.push(...renderCratePages(site, details, version))
  await pace()
  if (crate.newestMark === null || !isSame) return { outputs }
  outputs.push(...(await versionPages(context, version)))
  return { outputs, newest: { kind: 'release', subject: newest.id, generation: crate.newestMark } }
}

/** Renders the page of one release; none if the release was deleted. */
export async function releasePages(context: PageContext, releaseId: number): Promise<Output[]> {
  const { database } = context
  const stored = await readRelease(database, releaseId)
  if (!stored) return []
  const { crate } = stored
  const advisories = await advisoriesOn(database, crate, context.urls.own)
  const release = shown(context.site, advisories)(stored.release)
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
  release: ShownRelease,
  previous: ReleaseRecord | null,
  text: string | null,
): Promise<{ readonly version: VersionData; readonly files: readonly Output[] }> {
  const { database, site, crates } = context
  const { id, about, cksum } = release
  const advisoryTexts = await textsOf(release)
  const data = (readme: string | null) =>
    versionData(site, name, release, { readme, advisoryTexts, previous })
  if (text === null) return { version: data(null), files: [] }
  const failureBefore = await readFailure(database, id, PAGE_FORMAT)
  const hasLinks = site.source && HAS_LINKS.test(text) && linkBase(about) === null
  const file =
    hasLinks || HAS_IMAGES.test(text) ? await crates.localFile(crateKey(name, cksum)) : null
  const crate = file && { path: file.path, unpackedBytes: unpackedLimit(file.size) }
  const readme = { text, about, images: site.images }
  const key = ['readme', cksum, site.images, site.source]
  const work = () => renderReadme({ readme, crate, source: site.source }, failureBefore)
  const { html, files: images, failure } = await remembered(context, key, work)
  if (failure && !failureBefore) await writeFailure(database, id, PAGE_FORMAT, failure)
  const files = images.map(({ name: image, bytes }) =>
    output(imagePath(name, release.version, image), Buffer.from(bytes)),
  )
  return { version: data(html), files }
}

/** Maximum number of dependents on a crate's page; a popular crate has thousands. */
export const DEPENDENTS_SHOWN = 100

/** A crate with everything that its pages show. */
export interface CrateDetails
  extends Pick<CrateData, 'owners' | 'dependents' | 'dependentCount' | 'namesakes' | 'downloads'> {
  readonly name: Name
  readonly createdAt: string | null
  /** At least one; in publish order. */
  readonly releases: readonly ShownRelease[]
  readonly advisories: readonly Advisory[]
}

/**
 * Renders `crate.json`: everything about a crate except READMEs. The newest version describes the
 * crate; versions are listed newest first, each with its index entry as in the index.
 */
export function renderCrateRecord(crate: CrateDetails, site: SiteConfig): Output {
  const newest = newestVersion(crate.releases)
  if (!newest) throw new Error(`the crate ${crate.name} has no releases`)
  const { about } = newest
  const times = crate.releases.map(release => release.publishedAt).filter(time => time !== null)
  const head = {
    name: crate.name,
    newest_version: newest.version,
    yanked: newest.yanked,
    ...(newest.deprecation && { deprecated: newest.deprecation }),
    description: about.description,
    license: about.license,
    homepage: about.homepage,
    documentation: about.documentation,
    repository: about.repository,
    keywords: about.keywords,
    categories: about.categories,
    created_at: crate.createdAt,
    updated_at: times.sort().at(-1) ?? crate.createdAt,
    dependents: crate.dependentCount,
    ...(crate.advisories.length > 0 && { advisories: crate.advisories.map(advisoryRecord) }),
    ...(site.owners && {
      owners: crate.owners.map(({ login, name }) => {
        return { login, name, url: absoluteLink(site, userPath(login)) }
      }),
    }),
  }
  const versions = newestFirst(crate.releases).map(release => {
    const rest = {
      version: release.version,
      size: release.size,
      contents: release.contents,
      download: expandDl(site.dl, { name: crate.name, ...release }),
      published_at: release.publishedAt,
      published_by: release.publishedBy,
      ...(release.job && { trustpub_data: trustpubData(release.job) }),
      ...(release.yankReason !== null && { yank_message: release.yankReason }),
      ...(release.deprecation && { deprecated: release.deprecation }),
      ...(release.advisories && { advisories: release.advisories.map(({ id }) => id) }),
      about: release.about,
    }
    // The line is already JSON; parsing and rendering it again would cost more than all the rest.
    return `${JSON.stringify(rest).slice(0, -1)},"entry":${release.line}}`
  })
  const text = `${JSON.stringify(head).slice(0, -1)},"versions":[\n${versions.join(',\n')}\n]}\n`
  return output(crateRecordPath(crate.name), text)
}

/** Renders a crate's pages, without those of versions; the version `newest` represents it. */
export function renderCratePages(
  site: SiteConfig,
  crate: CrateDetails,
  newest: VersionData,
): Output[] {
  const { name, releases } = crate
  const versions = newestFirst(releases).slice(0, VERSIONS_MAX).map(listedVersion)
  const data = { ...crate, newest, versions, versionCount: releases.length }
  return [
    cratePage(site, data),
    latestPage(site, name),
    badge(newest),
    ...(site.source && releases.length > 1 ? [comparePage(site, data)] : []),
    ...(releases.length > VERSIONS_SHOWN ? [versionsPage(site, data)] : []),
  ]
}

/** The longest index line whose features are compared in the table of versions, in characters. */
const COMPARED_LINE = 16_384

/** Only the first versions, and short lines: a table must not cost more than the rest of the page. */
function listedVersion(release: ShownRelease, at: number): ListedVersion {
  const { line } = release
  const isCompared = at <= VERSIONS_SHOWN && line.length <= COMPARED_LINE
  const { license, license_file } = release.about
  return {
    ...release,
    license,
    license_file,
    features: isCompared ? readEntry(line).features : null,
  }
}

/** Returns a release as its page shows it; `more` has its README as HTML. */
export function versionData(
  site: SiteConfig,
  name: Name,
  release: ReleaseRecord,
  more: Pick<VersionData, 'readme' | 'advisoryTexts'> & {
    readonly previous: ReleaseRecord | null
  },
): VersionData {
  return {
    ...release.about,
    ...readEntry(release.line),
    ...release,
    name,
    download: expandDl(site.dl, { name, ...release }),
    ...more,
    previous: more.previous && comparedVersion(more.previous),
  }
}

function comparedVersion(
  release: Pick<ReleaseRecord, 'version' | 'line' | 'about'>,
): ComparedVersion {
  const { rust_version, links, deps, features } = readEntry(release.line)
  const { edition, license, license_file } = release.about
  const { version } = release
  return { version, rust_version, links, deps, features, edition, license, license_file }
}
