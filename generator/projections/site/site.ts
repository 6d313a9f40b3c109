import { noJekyllPath, type Output, output, SITEMAP_CRATES } from '../../../core/paths/tree.ts'
import { assetPath, assets, favicon } from '../../../site/layout/assets.ts'
import { frontPage } from '../../../site/pages/front.ts'
import { notFoundPage } from '../../../site/pages/not-found.ts'
import { staticSearchPage } from '../../../site/pages/search.ts'
import {
  openSearch,
  robots,
  sitemapIndex,
  sitemapPart,
} from '../../../site/pages/search-engines.ts'
import {
  commonLabels,
  cratesBelow,
  cratesInOrder,
  listedBetween,
  rangesOf,
  readFigures,
  updatedCrates,
} from '../../records/pages/overviews.ts'
import { recentReleases } from '../../records/releases.ts'
import type { PageContext } from '../context.ts'
import { FEED_LENGTH, renderNewCrates, renderUpdates } from '../feed.ts'

/** Number of crates in each of the lists of the front page, and of its keywords. */
const FRONT_LENGTH = 12
const FRONT_KEYWORDS = 16

/** Renders the front page. */
export async function frontOutput(context: PageContext): Promise<Output> {
  const { database, site, isFilling = false } = context
  const { crates, versions, mostRequired } = await readFigures(database)
  const newest = site.feeds ? await cratesInOrder(database, 'newest', FRONT_LENGTH) : []
  const updated = site.feeds ? await updatedCrates(database, FRONT_LENGTH) : []
  const first = site.feeds ? [] : await cratesBelow(database, '', FRONT_LENGTH)
  const latest = [...updated, ...newest, ...first].find(card => !card.yanked)?.name ?? null
  const example = mostRequired ?? latest
  const keywords = await commonLabels(database, 'keyword', FRONT_KEYWORDS)
  const front = { crates, versions, newest, updated, first, keywords, example, isFilling }
  return frontPage(site, front)
}

/** Returns whether the tree has the assets to which the front page of this program refers. */
export function areFixed({ tree }: PageContext): Promise<boolean> {
  return tree.has(assetPath('style.css'))
}

/** Renders the files that depend on the program and its settings alone. */
export function fixedOutputs({ site }: PageContext): Output[] {
  return [
    ...assets,
    favicon,
    notFoundPage(site),
    staticSearchPage(site),
    robots(site),
    openSearch(site),
    // Otherwise GitHub Pages leaves out files whose names begin with `_`.
    output(noJekyllPath, ''),
  ]
}

/** Renders the feeds of the registry, if it has some, and the index of the site map. */
export async function feedOutputs({ database, site }: PageContext): Promise<Output[]> {
  const feeds = async () => [
    renderNewCrates(site, await cratesInOrder(database, 'newest', FEED_LENGTH.crates)),
    renderUpdates(site, await recentReleases(database, FEED_LENGTH.updates)),
  ]
  return [
    ...(site.feeds ? await feeds() : []),
    ...(site.private ? [] : sitemapIndex(site, await rangesOf(database, SITEMAP_CRATES))),
  ]
}

/** Renders a part of the sitemap; nothing if it has no crates or the registry is private. */
export async function sitemapPartOutputs(
  { database, site }: PageContext,
  part: number,
): Promise<Output[]> {
  if (site.private) return []
  const crates = await listedBetween(database, part * SITEMAP_CRATES, (part + 1) * SITEMAP_CRATES)
  return crates.length === 0 ? [] : [sitemapPart(site, part, crates)]
}
