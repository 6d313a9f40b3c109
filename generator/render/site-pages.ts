import { type Output, output } from '../../core/output.ts'
import { noJekyllPath } from '../../core/paths/pages.ts'
import type { CrateItem } from '../../site/crate-data.ts'
import { assets } from '../../site/layout/assets.ts'
import { type FrontData, frontPage } from '../../site/pages/front.ts'
import { listData, listPage } from '../../site/pages/list.ts'
import { notFoundPage } from '../../site/pages/not-found.ts'
import { staticSearchPage } from '../../site/pages/search.ts'
import { openSearch, robots, sitemaps } from '../../site/pages/search-engines.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { searchFiles } from './search-files.ts'

/** Crates in each of the two lists of the front page. */
export const FRONT_LENGTH = 12

/** The front page, and the files that are the same whatever the registry holds. */
export function renderSite(site: SiteConfig, front: FrontData): Output[] {
  const pages = [frontPage(site, front), notFoundPage(site), staticSearchPage(site)]
  // Keeps GitHub Pages from leaving out pages whose names begin with `_`.
  const noJekyll = output(noJekyllPath, '')
  return [...assets, ...pages, robots(site), noJekyll, openSearch(site)]
}

/** Everything that names all crates, rendered at once: list, search, site maps. */
export function* renderListing(site: SiteConfig, crates: readonly CrateItem[]): Generator<Output> {
  for (const data of listData(crates)) yield listPage(site, data)
  yield* searchFiles(crates)
  if (!site.private) yield* sitemaps(site, crates)
}
