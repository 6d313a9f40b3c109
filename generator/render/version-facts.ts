import { parseEntry } from '../../core/entry/parse.ts'
import type { About } from '../../core/manifest/manifest.ts'
import type { Name } from '../../core/name.ts'
import { expandDl } from '../../core/urls.ts'
import type { ComparedVersion, VersionData } from '../../site/crate-data.ts'
import type { PackagedReadme } from '../../site/readme/readme.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import type { ReleaseFacts } from './crate-record.ts'

/** A release with what only its own page shows. */
export interface WholeRelease {
  readonly name: Name
  readonly release: ReleaseFacts
  /** As HTML. */
  readonly readme: string | null
  /** The version before it by precedence. */
  readonly previous: ReleaseFacts | null
}

/** A release as the site takes it. */
export function versionFacts(
  { name, release, readme, previous }: WholeRelease,
  dl: string,
  site: SiteConfig,
): VersionData {
  const { about, version, cksum } = release
  return {
    name,
    ...compared(release),
    links: parseEntry(release.line).links,
    description: about.description,
    published: release.publishedAt,
    publisher: release.publishedBy,
    yanked: release.yanked,
    size: release.size,
    checksum: cksum,
    download: expandDl(dl, { name, version, cksum }),
    license: about.license,
    licenseFile: about.license_file,
    edition: about.edition,
    homepage: about.homepage,
    documentation: about.documentation,
    repository: about.repository,
    pathInVcs: about.vcs_path ?? null,
    keywords: about.keywords,
    categories: about.categories,
    readme,
    binaries: about.bin_names ?? [],
    library: about.has_lib ?? true,
    source: site.source,
    previous: previous && compared(previous),
  }
}

/** A README and what its links depend on. */
export function packagedReadme(about: About, text: string, site: SiteConfig): PackagedReadme {
  return {
    text,
    path: about.readme_file ?? 'README.md',
    repository: about.repository,
    pathInVcs: about.vcs_path ?? null,
    images: site.images,
  }
}

/** Rust version of a release, from its index line. */
export function rustVersionOf(release: ReleaseFacts): string | null {
  return parseEntry(release.line).rust_version
}

function compared(release: ReleaseFacts): ComparedVersion {
  const { rust_version, deps, features } = parseEntry(release.line)
  return { version: release.version, rustVersion: rust_version, dependencies: deps, features }
}
