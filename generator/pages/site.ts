import { newCrates, recentCrates, recentReleases, updatedCrates } from '../catalog/recent.ts'
import type { Output } from '../paths.ts'
import { FEED_LENGTH, FRONT_LENGTH, renderNewCrates, renderSite, renderUpdates } from '../render.ts'
import { listedCrates, listOutput } from './list.ts'
import type { PageShop } from './shop.ts'

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
    // Without crates nobody else would render the page that every other one leads to.
    ...(crates === 0 ? [await listOutput(shop, '', 0)] : []),
  ]
}
