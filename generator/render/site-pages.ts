import { noJekyllPath, type Output, output } from '../../core/paths/tree.ts'
import { assets, favicon } from '../../site/layout/assets.ts'
import { type FrontData, frontPage } from '../../site/pages/front.ts'
import { notFoundPage } from '../../site/pages/not-found.ts'
import { staticSearchPage } from '../../site/pages/search.ts'
import { openSearch, robots } from '../../site/pages/search-engines.ts'
import type { SiteConfig } from '../../site/site-config.ts'

/** Number of crates in each of the two lists of the front page. */
export const FRONT_LENGTH = 12

/** Number of keywords on the front page. */
export const FRONT_KEYWORDS = 16

/** Renders the front page, and the files that do not depend on the registry's content. */
export function renderSite(site: SiteConfig, front: FrontData): Output[] {
  const pages = [frontPage(site, front), notFoundPage(site), staticSearchPage(site)]
  // Otherwise GitHub Pages leaves out files whose names begin with `_`.
  const noJekyll = output(noJekyllPath, '')
  return [...assets, favicon, ...pages, robots(site), noJekyll, openSearch(site)]
}
