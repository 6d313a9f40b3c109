import { createHash } from 'node:crypto'
import type { Progress } from './build.ts'
import { isPageMark, markAllPages, pageMarks } from './catalog/page-marks.ts'
import { prefixCounts } from './catalog/prefixes.ts'
import type { Mark } from './catalog/record.ts'
import { cratePages, releasePages } from './pages/crate.ts'
import { buildList, listOutputs } from './pages/list.ts'
import type { PageShop } from './pages/shop.ts'
import { sitePages } from './pages/site.ts'
import { buildSource } from './pages/source.ts'
import { CRATES_FOLDER, cratePagePaths, FEEDS_FOLDER, isListPath, updatesPlace } from './paths.ts'

export { cratePages, releasePages } from './pages/crate.ts'
export { listOutputs } from './pages/list.ts'
export type { PageShop } from './pages/shop.ts'
export { sitePages } from './pages/site.ts'

/** Grows when an equal catalog renders to other pages, so that an upgraded registry renders them anew. */
const PAGE_FORMAT = '2'

/** Renders what one mark asks for, then takes it off; a mark that is renewed meanwhile stays. */
export async function buildPage(shop: PageShop, mark: Mark): Promise<void> {
  await shop.pageTurnstile.run(async () => {
    // Another process may have been here while this one waited.
    if (!(await isPageMark(shop.database, mark))) return
    await shop.catalog.clear(await render(shop, mark))
  })
}

/** Renders; what comes back are the marks that are done with it. */
async function render(shop: PageShop, mark: Mark): Promise<readonly Mark[]> {
  if (mark.kind === 'list') return buildList(shop, mark)
  if (mark.kind === 'source') await buildSource(shop, mark.subject)
  else if (mark.kind === 'page') await buildCratePages(shop, mark.subject)
  else {
    const outputs = mark.kind === 'site' ? await sitePages(shop) : await releasePages(shop, mark.subject)
    for (const output of outputs) await shop.tree.write(output)
  }
  return [mark]
}

async function buildCratePages(shop: PageShop, crateId: number): Promise<void> {
  const outputs = await cratePages(shop, crateId)
  for (const output of outputs) await shop.tree.write(output)
  if (outputs.length > 0) return
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
  if (options.all) await prunePages(shop)
  return crates
}

/** Marks every page when the tree has none, or those of another format or look. Cheap when there is nothing to do. */
export async function markOutdatedPages(shop: PageShop): Promise<void> {
  const looks = createHash('sha256')
    .update(JSON.stringify([PAGE_FORMAT, shop.urls.dl, shop.look]))
    .digest('hex')
  const isCurrent = (await shop.catalog.fact('pages')) === looks
  if (isCurrent && (await shop.tree.read(updatesPlace.path)) !== null) return
  await markAllPages(shop.database)
  await shop.catalog.setFact('pages', looks)
}

/** Removes feeds and pages of the list that are none of this registry; those of a crate go with its other files. */
async function prunePages(shop: PageShop): Promise<void> {
  const wanted = new Set((await sitePages(shop)).map(one => one.path))
  for await (const path of shop.tree.list(FEEDS_FOLDER)) if (!wanted.has(path)) await shop.tree.remove(path)
  const total = (await prefixCounts(shop.database, [''])).get('') ?? 0
  for await (const output of listOutputs(shop, '', total)) wanted.add(output.path)
  for (const path of await shop.tree.files(CRATES_FOLDER)) {
    if (isListPath(path) && !wanted.has(path)) await shop.tree.remove(path)
  }
}
