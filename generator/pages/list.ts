import { readCards } from '../store/catalog/pages/cards.ts'
import { listMarksOf } from '../store/catalog/pages/page-marks.ts'
import { beginnings, crateNamed, cratesBelow, longerPrefixes, prefixCounts } from '../store/catalog/search/prefixes.ts'
import type { Mark } from '../store/catalog/record.ts'
import { canonicalName } from '../../core/name.ts'
import { listPlace } from '../../core/paths.ts'
import type { Output } from '../../core/output.ts'
import { LIST_MAX } from '../../site/pages/list.ts'
import { type ListedCrate, renderListPage } from '../render/crate-pages.ts'
import type { PageShop } from './shop.ts'

/**
 * Renders the pages of the list on which a crate stands: from the first one, letter by letter, to the one that has few
 * enough crates to name them all. All crates of that last page are done with it; the marks of all of them come back.
 */
export async function buildList(shop: PageShop, mark: Mark): Promise<readonly Mark[]> {
  const crate = await shop.catalog.crate(mark.subject)
  if (!crate) return [mark]
  const path = beginnings(canonicalName(crate.name))
  const counts = await prefixCounts(shop.database, path)
  for (const [at, prefix] of path.entries()) {
    const total = counts.get(prefix) ?? 0
    if (total === 0 && prefix !== '') {
      await removeBranches(shop, path.slice(at))
      break
    }
    if (total <= LIST_MAX) {
      const ids = await cratesBelow(shop.database, prefix, LIST_MAX)
      // Before the cards are read: a change that comes later has a mark of its own.
      const marks = ids.length > 0 ? await listMarksOf(shop.database, ids) : []
      await shop.tree.write(await listOutput(shop, prefix, total))
      const deeper = (await longerPrefixes(shop.database, prefix)).map(one => one.prefix)
      await removeBranches(shop, [...new Set([...path.slice(at + 1), ...deeper])])
      return [mark, ...marks]
    }
    await shop.tree.write(await listOutput(shop, prefix, total))
    for (const part of await longerPrefixes(shop.database, prefix)) {
      // Pages that became necessary because this one has grown too long.
      if (part.prefix === path[at + 1] || (await shop.tree.has(listPlace(part.prefix).path))) continue
      for await (const output of listOutputs(shop, part.prefix, part.total)) await shop.tree.write(output)
    }
  }
  return [mark]
}

/** The pages of the list whose crates begin with `prefix`, all of them. */
export async function* listOutputs(shop: PageShop, prefix: string, total: number): AsyncIterable<Output> {
  yield await listOutput(shop, prefix, total)
  if (total <= LIST_MAX) return
  for (const part of await longerPrefixes(shop.database, prefix)) yield* listOutputs(shop, part.prefix, part.total)
}

/** One page of the list. */
export async function listOutput(shop: PageShop, prefix: string, total: number): Promise<Output> {
  const { database, look } = shop
  const isLast = total <= LIST_MAX
  const ids = isLast ? await cratesBelow(database, prefix, LIST_MAX) : await crateNamed(database, prefix)
  const parts = isLast ? [] : await longerPrefixes(database, prefix)
  return renderListPage({ prefix, total, crates: await listedCrates(shop, ids), parts }, look)
}

/** Crates as lists show them, in the order of their ids. */
export async function listedCrates(shop: PageShop, ids: readonly number[]): Promise<ListedCrate[]> {
  return (await readCards(shop.database, ids)).map(card => ({ ...card, description: card.about.description }))
}

/** Removes pages and those below them, as far as there are any. */
async function removeBranches(shop: PageShop, prefixes: readonly string[]): Promise<void> {
  for (const prefix of prefixes) {
    const { path } = listPlace(prefix)
    if (!(await shop.tree.has(path))) continue
    await shop.tree.remove(path)
    await removeBranches(
      shop,
      (await longerPrefixes(shop.database, prefix)).map(one => one.prefix),
    )
  }
}
