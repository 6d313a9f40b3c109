import type { About } from '../../core/manifest/manifest.ts'
import type { Name } from '../../core/name.ts'
import { type Output, output } from '../../core/output.ts'
import { crateRecordPath } from '../../core/paths/crates.ts'
import { expandDl } from '../../core/urls.ts'
import { compareVersions, newestVersion, type Version } from '../../core/version.ts'

/** A version, as the pages and feeds of its crate need it. */
export interface ReleaseFacts {
  readonly version: Version
  readonly cksum: string
  readonly size: number
  readonly yanked: boolean
  /** Its index line, without the line end. */
  readonly line: string
  readonly about: About
  /** Null when unknown. */
  readonly publishedAt: string | null
  readonly publishedBy: string | null
}

/** A crate with everything that is rendered of it. */
export interface CrateFacts {
  readonly name: Name
  /** Null when unknown. */
  readonly createdAt: string | null
  /** At least one; in publish order. */
  readonly releases: readonly ReleaseFacts[]
  /** How many crates here depend on it with their newest version. */
  readonly dependents: number
}

/**
 * `crate.json`: everything about a crate except READMEs. The newest version describes the crate;
 * versions come newest first, each with its index entry as in the index.
 */
export function renderCrateRecord(crate: CrateFacts, dl: string): Output {
  const newest = newestVersion(crate.releases)
  if (!newest) throw new Error(`the crate ${crate.name} has no releases`)
  const times = crate.releases.map(one => one.publishedAt).filter(time => time !== null)
  const head = {
    name: crate.name,
    newest_version: newest.version,
    yanked: newest.yanked,
    description: newest.about.description,
    license: newest.about.license,
    homepage: newest.about.homepage,
    documentation: newest.about.documentation,
    repository: newest.about.repository,
    keywords: newest.about.keywords,
    categories: newest.about.categories,
    created_at: crate.createdAt,
    updated_at: times.sort().at(-1) ?? crate.createdAt,
    dependents: crate.dependents,
  }
  const versions = crate.releases
    .toSorted((a, b) => compareVersions(b.version, a.version))
    .map(one => renderRelease(crate.name, one, dl))
  const text = `${JSON.stringify(head).slice(0, -1)},"versions":[\n${versions.join(',\n')}\n]}\n`
  return output(crateRecordPath(crate.name), text)
}

/** The line is JSON already; parsing and writing it again would cost more than all the rest. */
function renderRelease(name: Name, release: ReleaseFacts, dl: string): string {
  const rest = {
    version: release.version,
    size: release.size,
    download: expandDl(dl, { name, version: release.version, cksum: release.cksum }),
    published_at: release.publishedAt,
    published_by: release.publishedBy,
    about: release.about,
  }
  return `${JSON.stringify(rest).slice(0, -1)},"entry":${release.line}}`
}
