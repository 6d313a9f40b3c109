import { canonicalName } from '../../core/name.ts'
import { listPath, type Output } from '../../core/paths/tree.ts'
import { LIST_MAX, listPage } from '../../site/pages/lists.ts'
import { readCrate } from '../store/catalog/crates.ts'
import type { Mark } from '../store/catalog/marks.ts'
import { readCards } from '../store/catalog/pages/cards.ts'
import { listMarksOf } from '../store/catalog/pages/page-marks.ts'
import {
  beginnings,
  crateNamed,
  cratesBelow,
  longerPrefixes,
  prefixCounts,
} from '../store/catalog/pages/prefixes.ts'
import type { PageContext } from './context.ts'

/**
 * Renders the list pages that lead to a crate: from the first page, letter by letter, to the one
 * short enough to list all its crates. Returns the marks of all crates on that page.
 */
export async function buildList(context: PageContext, mark: Mark): Promise<readonly Mark[]> {
  const crate = await readCrate(context.database, mark.subject)
  if (!crate) return [mark]
  const path = beginnings(canonicalName(crate.name))
  const counts = await prefixCounts(context.database, path)
  for (const [at, prefix] of path.entries()) {
    const total = counts.get(prefix) ?? 0
    if (total === 0 && prefix !== '') {
      await removeBranches(context, path.slice(at))
      break
    }
    if (total <= LIST_MAX) {
      const ids = await cratesBelow(context.database, prefix, LIST_MAX)
      // Read before the cards: a later change sets a new mark.
      const marks = ids.length > 0 ? await listMarksOf(context.database, ids) : []
      await context.tree.write(await listOutput(context, prefix, total))
      await removeBranches(context, [
        ...path.slice(at + 1),
        ...(await prefixesBelow(context, prefix)),
      ])
      return [mark, ...marks]
    }
    await context.tree.write(await listOutput(context, prefix, total))
    for (const part of await longerPrefixes(context.database, prefix)) {
      // This page has just become too long, so the pages below it do not exist yet.
      if (part.prefix === path[at + 1] || (await context.tree.has(listPath(part.prefix)))) continue
      for await (const output of listOutputs(context, part.prefix, part.total))
        await context.tree.write(output)
    }
  }
  return [mark]
}

/** Renders all list pages of the crates whose names begin with `prefix`. */
export async function* listOutputs(
  context: PageContext,
  prefix: string,
  total: number,
): AsyncIterable<Output> {
  yield await listOutput(context, prefix, total)
  if (total <= LIST_MAX) return
  for (const part of await longerPrefixes(context.database, prefix))
    yield* listOutputs(context, part.prefix, part.total)
}

/** Renders one page of the list. */
export async function listOutput(
  context: PageContext,
  prefix: string,
  total: number,
): Promise<Output> {
  const { database, site } = context
  const isLast = total <= LIST_MAX
  const ids = await (isLast
    ? cratesBelow(database, prefix, LIST_MAX)
    : crateNamed(database, prefix))
  const parts = isLast ? [] : await longerPrefixes(database, prefix)
  return listPage(site, { prefix, total, crates: await readCards(database, ids), parts })
}

/** Removes the pages of these prefixes and all pages below them. */
async function removeBranches(context: PageContext, prefixes: readonly string[]): Promise<void> {
  for (const prefix of prefixes) {
    const path = listPath(prefix)
    if (!(await context.tree.has(path))) continue
    await context.tree.remove(path)
    await removeBranches(context, await prefixesBelow(context, prefix))
  }
}

async function prefixesBelow({ database }: PageContext, prefix: string): Promise<string[]> {
  return (await longerPrefixes(database, prefix)).map(one => one.prefix)
}
