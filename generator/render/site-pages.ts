import type { Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import type { Version } from '../../core/version.ts'
import type { SiteConfig } from '../../site/facts/site-config.ts'
import { assets } from '../../site/layout/assets.ts'
import { frontPage } from '../../site/pages/front.ts'
import { listPages } from '../../site/pages/list.ts'
import { notFoundPage } from '../../site/pages/not-found.ts'
import { noJekyll, openSearch, robots } from '../../site/pages/robots.ts'
import { staticSearchPage } from '../../site/pages/search.ts'
import { sitemapIndex, sitemapPages, sitemapPart, sitemaps } from '../../site/pages/sitemaps.ts'
import type { SourceFile } from '../../site/source/file.ts'
import { sourcePages } from '../../site/source/pages.ts'
import { type ListedCrate, listed } from './crate-pages.ts'
import { searchFiles } from './search-files.ts'

/** What the front page tells of a registry. */
export interface FrontPart {
  readonly crates: number
  readonly versions: number
  readonly newest: readonly ListedCrate[]
  readonly updated: readonly ListedCrate[]
  /** The first crates by name, where no times are known. */
  readonly first?: readonly ListedCrate[]
}

/** Most bytes of one `.crate` that get pages; what comes after them is only listed. */
export const SOURCE_BYTES_MAX = 16 * 1024 ** 2

/** Crates in each of the two lists of the front page. */
export const FRONT_LENGTH = 12

/** The front page, and the files that are the same whatever the registry holds. */
export function renderSite(site: SiteConfig, front: FrontPart): Output[] {
  const facts = {
    ...front,
    newest: front.newest.map(listed),
    updated: front.updated.map(listed),
    first: (front.first ?? []).map(listed),
  }
  const files = [...assets, frontPage(site, facts), notFoundPage(site), robots(site), noJekyll]
  return [...files, ...(site.search ? [openSearch(site), staticSearchPage(site)] : [])]
}

/** One part of the site map: the crates with the ids of that part. */
export function renderSitemap(
  site: SiteConfig,
  part: number,
  crates: readonly { readonly name: Name; readonly updatedAt: string | null }[],
): Output {
  return sitemapPart(
    site,
    part,
    crates.map(one => ({ name: one.name, updated: one.updatedAt })),
  )
}

/** The site map, of which `parts` have crates; nothing of a registry that is nobody else's business. */
export function renderSitemapIndex(site: SiteConfig, parts: readonly number[]): Output[] {
  return site.private ? [] : [sitemapPages(site), sitemapIndex(site, parts)]
}

/** Everything that names all crates, rendered at one go: list, search, site maps. */
export function* renderListing(
  site: SiteConfig,
  crates: readonly ListedCrate[],
  keywordsOf: (name: Name) => readonly string[],
): Generator<Output> {
  const cards = crates.map(listed)
  yield* listPages(site, cards)
  const entries = crates.map(one => ({
    name: one.name,
    version: one.newest,
    description: one.description,
    keywords: keywordsOf(one.name),
    yanked: one.yanked,
  }))
  yield* searchFiles(entries)
  if (!site.private) yield* sitemaps(site, cards)
}

/** The source browser of a version: its tree, and a page for each file that is text. */
export function* renderSource(
  site: SiteConfig,
  release: { readonly name: Name; readonly version: Version },
  files: readonly SourceFile[],
): Generator<Output> {
  yield* sourcePages(site, { ...release, files })
}
