import type { Output } from '../../core/output.ts'
import { FEED_LENGTH, renderNewCrates, renderUpdates } from '../render/feed.ts'
import { FRONT_LENGTH, renderSite } from '../render/site-pages.ts'
import { registryCounts } from '../store/catalog/crates.ts'
import { mostRequired } from '../store/catalog/pages/dependents.ts'
import { newCrates, recentReleases, updatedCrates } from '../store/catalog/pages/recent.ts'
import type { PageContext } from './context.ts'
import { listedCrates, listOutput } from './list.ts'
import { searchLayoutOutputs } from './search.ts'
import { sitemapOutputs } from './sitemap.ts'

/**
 * What the tree says of the registry as a whole: front page, feeds, and what is the same for every
 * registry.
 */
export async function sitePages(context: PageContext): Promise<Output[]> {
  const { database, site } = context
  const { crates, releases } = await registryCounts(database)
  const newest = await listedCrates(context, await newCrates(database, FRONT_LENGTH))
  const updated = await listedCrates(context, await updatedCrates(database, FRONT_LENGTH))
  const names = [...updated, ...newest].filter(one => !one.yanked).map(one => one.name)
  const example = await mostRequired(database, names)
  const front = { crates, versions: releases, newest, updated, example }
  return [
    ...renderSite(site, front),
    renderNewCrates(
      site,
      await listedCrates(context, await newCrates(database, FEED_LENGTH.crates)),
    ),
    renderUpdates(site, await recentReleases(database, FEED_LENGTH.updates)),
    ...(await searchLayoutOutputs(context)),
    ...(await sitemapOutputs(context)),
    // Without crates nobody else would render the page that every other one leads to.
    ...(crates === 0 ? [await listOutput(context, '', 0)] : []),
  ]
}
