import { createHash } from 'node:crypto'
import type { Progress, Workshop } from './build.ts'
import { countDependents } from './catalog/dependents.ts'
import { isPageMark, markAllPages, pageMarks } from './catalog/page-marks.ts'
import { recentCrates, recentReleases } from './catalog/recent.ts'
import type { Mark } from './catalog/record.ts'
import type { Database } from './database.ts'
import type { Turnstile } from './lock.ts'
import { canonicalName } from './name.ts'
import { cratePagePaths, FEEDS_FOLDER, type Output, updatesPlace } from './paths.ts'
import {
  type Branding,
  type CrateFacts,
  FEED_LENGTH,
  renderCrateFeed,
  renderCrateRecord,
  renderNewCrates,
  renderStart,
  renderUpdates,
} from './render.ts'

/** What rendering pages needs beyond a build. Pages have a turnstile of their own: no publish ever waits for one. */
export interface PageShop extends Workshop {
  readonly database: Database
  readonly pageTurnstile: Turnstile
  readonly branding: Branding
}

/** Grows when an equal catalog renders to other pages, so that an upgraded registry renders them anew. */
const PAGE_FORMAT = '1'

/** Everything that the tree says of one crate besides index and `.crate` files; nothing of one without versions. */
export async function cratePages(shop: PageShop, crateId: number): Promise<Output[]> {
  const crate = await shop.catalog.crate(crateId)
  if (!crate) return []
  const releases = await shop.catalog.releases(crateId)
  if (releases.length === 0) return []
  const dependents = await countDependents(shop.database, canonicalName(crate.name))
  const facts: CrateFacts = { name: crate.name, createdAt: crate.createdAt, releases, dependents }
  return [renderCrateRecord(facts, shop.urls.dl), renderCrateFeed(feedSite(shop), facts)]
}

/** Everything that the tree says of the registry as a whole. */
export async function sitePages(shop: PageShop): Promise<Output[]> {
  const updates = await recentReleases(shop.database, FEED_LENGTH.updates)
  const { crates, releases } = await shop.catalog.counts()
  const shown = [...new Map(updates.map(one => [one.name, one])).values()].slice(0, 30)
  return [
    ...renderStart(shop.branding, shop.urls, shop.authRequired, { crates, versions: releases, shown }),
    renderNewCrates(feedSite(shop), await recentCrates(shop.database, FEED_LENGTH.crates)),
    renderUpdates(feedSite(shop), updates),
  ]
}

/** Renders what one mark asks for, then takes it off; a mark that is renewed meanwhile stays. */
export async function buildPage(shop: PageShop, mark: Mark): Promise<void> {
  await shop.pageTurnstile.run(async () => {
    // Another process may have been here while this one waited.
    if (!(await isPageMark(shop.database, mark))) return
    const outputs = mark.kind === 'site' ? await sitePages(shop) : await cratePages(shop, mark.subject)
    for (const output of outputs) await shop.tree.write(output)
    if (mark.kind === 'page' && outputs.length === 0) await removeCratePages(shop, mark.subject)
    await shop.catalog.clear([mark])
  })
}

async function removeCratePages(shop: PageShop, crateId: number): Promise<void> {
  const crate = await shop.catalog.crate(crateId)
  if (crate) for (const path of cratePagePaths(crate.name)) await shop.tree.remove(path)
}

/** Renders every page that is marked, or all of them where they are missing or outdated; the number of crates done. */
export async function buildPages(
  shop: PageShop,
  options: { all?: boolean; progress?: Progress } = {},
): Promise<number> {
  if (options.all) await markAllPages(shop.database)
  else await markOutdatedPages(shop)
  let crates = 0
  for (let marks = await pageMarks(shop.database); marks.length > 0; marks = await pageMarks(shop.database)) {
    for (const mark of marks) {
      await buildPage(shop, mark)
      if (mark.kind === 'page') crates++
      options.progress?.(crates, crates + marks.length)
    }
  }
  if (options.all) await pruneFeeds(shop)
  return crates
}

/** Marks every page when the tree has none, or those of another format or address. Cheap when there is nothing to do. */
export async function markOutdatedPages(shop: PageShop): Promise<void> {
  const looks = createHash('sha256')
    .update(JSON.stringify([PAGE_FORMAT, shop.urls.base, shop.urls.dl, shop.branding, shop.authRequired]))
    .digest('hex')
  const isCurrent = (await shop.catalog.fact('pages')) === looks
  if (isCurrent && (await shop.tree.read(updatesPlace.path)) !== null) return
  await markAllPages(shop.database)
  await shop.catalog.setFact('pages', looks)
}

async function pruneFeeds(shop: PageShop): Promise<void> {
  const wanted = new Set((await sitePages(shop)).map(one => one.path))
  for await (const path of shop.tree.list(FEEDS_FOLDER)) if (!wanted.has(path)) await shop.tree.remove(path)
}

function feedSite(shop: PageShop): { base: string; title: string } {
  return { base: shop.urls.base, title: shop.branding.title }
}
