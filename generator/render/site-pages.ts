import { noJekyllPath, type Output, output } from '../../core/paths/tree.ts'
import type { CrateItem } from '../../site/crate-data.ts'
import { assets } from '../../site/layout/assets.ts'
import { type FrontData, frontPage } from '../../site/pages/front.ts'
import { listData, listPage } from '../../site/pages/lists.ts'
import { notFoundPage } from '../../site/pages/not-found.ts'
import { staticSearchPage } from '../../site/pages/search.ts'
import { openSearch, robots, sitemaps } from '../../site/pages/search-engines.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { type SearchedCrate, searchFiles } from './search-files.ts'

/** Number of crates in each of the two lists of the front page. */
export const FRONT_LENGTH = 12

/** Renders the front page, and the files that do not depend on the registry's content. */
export function renderSite(site: SiteConfig, front: FrontData): Output[] {
  const pages = [frontPage(site, front), notFoundPage(site), staticSearchPage(site)]
  // Otherwise GitHub Pages leaves out files whose names begin with `_`.
  const noJekyll = output(noJekyllPath, '')
  return [...assets, ...pages, robots(site), noJekyll, openSearch(site)]
}

/** Renders everything that names all crates at once: list, search, sitemap. */
export function* renderListing(
  site: SiteConfig,
  crates: readonly (CrateItem & SearchedCrate)[],
): Generator<Output> {
  for (const data of listData(crates)) yield listPage(site, data)
  yield* searchFiles(crates)
  if (!site.private) yield* sitemaps(site, crates)
}
