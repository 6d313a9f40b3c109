import { readEntry } from '../../../core/entry/parse.ts'
import type { Name } from '../../../core/name.ts'
import { crateRecordPath, VERSIONS_SHOWN } from '../../../core/paths/crates.ts'
import { type Output, output } from '../../../core/paths/tree.ts'
import { expandDl } from '../../../core/urls/download-url.ts'
import { compareVersions, newestVersion } from '../../../core/version.ts'
import { badge } from '../../../site/crate/badge.ts'
import { cratePage } from '../../../site/crate/page.ts'
import { latestPage, VERSIONS_MAX, versionsPage } from '../../../site/crate/versions.ts'
import type {
  ComparedVersion,
  CrateData,
  ListedVersion,
  VersionData,
} from '../../../site/crate-data.ts'
import type { SiteConfig } from '../../../site/site-config.ts'
import { comparePage } from '../../../site/source/page.ts'
import type { ReleaseRecord } from '../../records/releases.ts'

/** Maximum number of dependents on a crate's page; a popular crate has thousands. */
export const DEPENDENTS_SHOWN = 100

/** A crate with everything that its pages show. */
export interface CrateFacts
  extends Pick<CrateData, 'owners' | 'dependents' | 'dependentCount' | 'namesakes' | 'downloads'> {
  readonly name: Name
  readonly createdAt: string | null
  /** At least one; in publish order. */
  readonly releases: readonly ReleaseRecord[]
}

/**
 * Renders `crate.json`: everything about a crate except READMEs. The newest version describes the
 * crate; versions are listed newest first, each with its index entry as in the index.
 */
export function renderCrateRecord(crate: CrateFacts, { dl }: SiteConfig): Output {
  const newest = newestVersion(crate.releases)
  if (!newest) throw new Error(`the crate ${crate.name} has no releases`)
  const { about } = newest
  const times = crate.releases.map(release => release.publishedAt).filter(time => time !== null)
  const head = {
    name: crate.name,
    newest_version: newest.version,
    yanked: newest.yanked,
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
  }
  const versions = newestFirst(crate.releases).map(release => {
    const rest = {
      version: release.version,
      size: release.size,
      contents: release.contents,
      download: expandDl(dl, { name: crate.name, ...release }),
      published_at: release.publishedAt,
      published_by: release.publishedBy,
      about: release.about,
    }
    // The line is already JSON; parsing and rendering it again would cost more than all the rest.
    return `${JSON.stringify(rest).slice(0, -1)},"entry":${release.line}}`
  })
  const text = `${JSON.stringify(head).slice(0, -1)},"versions":[\n${versions.join(',\n')}\n]}\n`
  return output(crateRecordPath(crate.name), text)
}

/**
 * Renders the pages of a crate besides those of its versions: `newest` is the version that
 * represents it.
 */
export function renderCratePages(
  site: SiteConfig,
  crate: CrateFacts,
  newest: VersionData,
): Output[] {
  const { name, releases } = crate
  const versions = newestFirst(releases).slice(0, VERSIONS_MAX).map(listedVersion)
  const data = { ...crate, newest, versions, versionCount: releases.length }
  return [
    cratePage(site, data),
    latestPage(site, name, newest.version),
    badge(newest),
    ...(site.source && releases.length > 1 ? [comparePage(site, data)] : []),
    ...(releases.length > VERSIONS_SHOWN ? [versionsPage(site, data)] : []),
  ]
}

/** The longest index line whose features are compared in the table of versions, in characters. */
const COMPARED_LINE = 16_384

/** Only the first versions, and short lines: a table must not cost more than the rest of the page. */
function listedVersion(release: ReleaseRecord, at: number): ListedVersion {
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
  more: Pick<VersionData, 'readme'> & {
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

/** Returns the parts of a release that are compared with another one. */
function comparedVersion(
  release: Pick<ReleaseRecord, 'version' | 'line' | 'about'>,
): ComparedVersion {
  const { rust_version, links, deps, features } = readEntry(release.line)
  const { edition, license, license_file } = release.about
  const { version } = release
  return { version, rust_version, links, deps, features, edition, license, license_file }
}

function newestFirst(releases: readonly ReleaseRecord[]): ReleaseRecord[] {
  return releases.toSorted((a, b) => compareVersions(b.version, a.version))
}
