import type { Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { assets } from '../../site/layout/assets.ts'
import { type FrontData, frontPage } from '../../site/pages/front.ts'
import { listData, listPage } from '../../site/pages/list.ts'
import { notFoundPage } from '../../site/pages/not-found.ts'
import { staticSearchPage } from '../../site/pages/search.ts'
import {
  noJekyll,
  openSearch,
  robots,
  sitemapIndex,
  sitemapPages,
  sitemaps,
} from '../../site/pages/search-engines.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import type { ListedCrate } from './crate-pages.ts'
import { searchFiles } from './search-files.ts'

/** Crates in each of the two lists of the front page. */
export const FRONT_LENGTH = 12

/** The front page, and the files that are the same whatever the registry holds. */
export function renderSite(site: SiteConfig, front: FrontData): Output[] {
  const pages = [frontPage(site, front), notFoundPage(site), staticSearchPage(site)]
  return [...assets, ...pages, robots(site), noJekyll, openSearch(site)]
}

/** The site map with its filled `parts`; nothing of a private registry. */
export function renderSitemapIndex(site: SiteConfig, parts: readonly number[]): Output[] {
  return site.private ? [] : [sitemapPages(site), sitemapIndex(site, parts)]
}

/** Everything that names all crates, rendered at one go: list, search, site maps. */
export function* renderListing(
  site: SiteConfig,
  crates: readonly ListedCrate[],
  keywordsOf: (name: Name) => readonly string[],
): Generator<Output> {
  for (const data of listData(crates)) yield listPage(site, data)
  const entries = crates.map(one => ({
    name: one.name,
    version: one.newest,
    description: one.description,
    keywords: keywordsOf(one.name),
    yanked: one.yanked,
  }))
  yield* searchFiles(entries)
  if (!site.private) yield* sitemaps(site, crates)
}
