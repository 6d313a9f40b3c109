import { newCrates, recentCrates, recentReleases, updatedCrates } from '../store/catalog/pages/recent.ts'
import type { Output } from '../../core/output.ts'
import { FEED_LENGTH, renderNewCrates, renderUpdates } from '../render/feed.ts'
import { FRONT_LENGTH, renderSite } from '../render/site-pages.ts'
import { listedCrates, listOutput } from './list.ts'
import { searchLayoutOutputs } from './search.ts'
import type { PageShop } from './shop.ts'
import { sitemapOutputs } from './sitemap.ts'

/** What the tree says of the registry as a whole: front page, feeds, and what is the same for every registry. */
export async function sitePages(shop: PageShop): Promise<Output[]> {
  const { database, look, catalog } = shop
  const { crates, releases } = await catalog.counts()
  const front = {
    crates,
    versions: releases,
    newest: await listedCrates(shop, await newCrates(database, FRONT_LENGTH)),
    updated: await listedCrates(shop, await updatedCrates(database, FRONT_LENGTH)),
  }
  return [
    ...renderSite(look, front),
    renderNewCrates(look.site, await recentCrates(database, FEED_LENGTH.crates)),
    renderUpdates(look.site, await recentReleases(database, FEED_LENGTH.updates)),
    ...(await searchLayoutOutputs(shop)),
    ...(await sitemapOutputs(shop)),
    // Without crates nobody else would render the page that every other one leads to.
    ...(crates === 0 ? [await listOutput(shop, '', 0)] : []),
  ]
}
