import type { Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { compareVersions, type Version } from '../../core/version.ts'
import { cratePage, versionPage } from '../../site/crate/page.ts'
import type { CrateItem, DependentRow, OwnerRow } from '../../site/crate-data.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import type { CrateFacts, ReleaseFacts } from './crate-record.ts'
import { rustVersionOf, versionFacts, type WholeRelease } from './version-facts.ts'

/** A crate with everything that its own page shows. */
export interface WholeCrate {
  readonly crate: CrateFacts
  /** The version that represents the crate. */
  readonly newest: WholeRelease
  readonly owners: readonly OwnerRow[]
  /** The first of them, by name. */
  readonly dependents: readonly DependentRow[]
}

/** The page of a crate. */
export function renderCratePage(
  { crate, newest, owners, dependents }: WholeCrate,
  dl: string,
  site: SiteConfig,
): Output {
  const versions = crate.releases
    .toSorted((a, b) => compareVersions(b.version, a.version))
    .map(release => ({
      version: release.version,
      published: release.publishedAt,
      publisher: release.publishedBy,
      size: release.size,
      rustVersion: rustVersionOf(release),
      yanked: release.yanked,
    }))
  return cratePage(site, {
    name: crate.name,
    newest: versionFacts(newest, dl, site),
    versions,
    owners: site.owners ? owners : [],
    dependents,
    dependentCount: crate.dependents,
  })
}

/** The page of a version. */
export function renderVersionPage(whole: WholeRelease, dl: string, site: SiteConfig): Output {
  return versionPage(site, versionFacts(whole, dl, site))
}

/** The version before another by precedence, yanked or not. */
export function previousOf<T extends { readonly version: Version }>(
  releases: readonly T[],
  version: Version,
): T | null {
  let best: T | null = null
  for (const one of releases) {
    if (compareVersions(one.version, version) >= 0) continue
    if (best === null || compareVersions(one.version, best.version) > 0) best = one
  }
  return best
}

/** A crate in a list, as the site takes it, with parsed values. */
export interface ListedCrate extends CrateItem {
  readonly name: Name
  readonly newest: Version
}

/** What the card of a crate says, from its newest release. */
export function listedCrate(
  name: Name,
  newest: ReleaseFacts,
  updatedAt: string | null,
): ListedCrate {
  const { version, yanked, about } = newest
  return { name, newest: version, description: about.description, updatedAt, yanked }
}
