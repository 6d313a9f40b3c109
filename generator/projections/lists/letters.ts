import { beginnings, canonicalName, type Name } from '../../../core/name.ts'
import { listPath, type Output } from '../../../core/paths/tree.ts'
import {
  LIST_MAX,
  listPage,
  ORDERED_MAX,
  type PrefixCount,
} from '../../../site/pages/all-crates.ts'
import { all, type Queries } from '../../database/statement.ts'
import { readCrate } from '../../records/crates.ts'
import { MARK, type Mark } from '../../records/marks.ts'
import { findCard } from '../../records/pages/cards.ts'
import {
  crateCount,
  cratesBelow,
  longerPrefixes,
  prefixCounts,
} from '../../records/pages/overviews.ts'
import type { PageContext } from '../context.ts'

/**
 * Renders the pages by letters that lead to a crate, down to the one short enough to list all its
 * crates. The first page is one of the views; if it lists all crates, there are no others. Returns
 * the marks of all crates on the last page.
 */
export async function buildList(context: PageContext, mark: Mark): Promise<readonly Mark[]> {
  const { database, tree } = context
  if ((await crateCount(database)) <= ORDERED_MAX) return [mark]
  const crate = await readCrate(database, mark.subject)
  if (!crate) return [mark]
  const canonical = canonicalName(crate.name)
  const path = beginnings(canonical)
  const counts = await prefixCounts(database, path)
  const totalOf = (prefix = '') => counts.get(prefix) ?? 0
  for (const [at, prefix] of path.entries()) {
    const total = totalOf(prefix)
    if (total === 0) {
      for (const gone of path.slice(at)) await removeList(context, gone)
      break
    }
    if (total <= LIST_MAX) {
      // Read before the cards: a later change sets a new mark.
      const sql = `SELECT ${MARK} FROM marks WHERE kind = 'list' AND subject IN
        (SELECT crate_id FROM listings WHERE canonical >= ? AND canonical < ?)`
      const marks = await all<Mark>(database, sql, prefix, `${prefix}{`)
      const before = await tree.read(listPath(prefix))
      await tree.write(await listOutput(context, prefix, total))
      // It had too many crates, and pages below it.
      if (before === null) await removeFirstBelow(context, prefix)
      else if (before.includes(LETTERS)) await removeBelow(context, prefix)
      return [mark, ...marks]
    }
    if (at > 0 && (await onlyBelow(database, { prefix, total }))) await removeList(context, prefix)
    else if (at > 0) await tree.write(await listOutput(context, prefix, total))
    for (const part of await letterParts(database, prefix)) {
      // This page has just become too long, so the pages below it do not exist yet.
      if (canonical.startsWith(part.prefix) || (await tree.has(listPath(part.prefix)))) continue
      for await (const output of listsBelow(context, part)) await tree.write(output)
    }
  }
  return [mark]
}

/** The mark-up of a page that cannot list all its crates. */
const LETTERS = '<ul class="letters">'

/** Renders all pages by letters, except the first one; none in a small registry. */
export async function* listOutputs(context: PageContext): AsyncIterable<Output> {
  if ((await crateCount(context.database)) <= ORDERED_MAX) return
  for (const part of await letterParts(context.database, '')) yield* listsBelow(context, part)
}

async function* listsBelow(
  context: PageContext,
  { prefix, total }: PrefixCount,
): AsyncIterable<Output> {
  yield await listOutput(context, prefix, total)
  if (total <= LIST_MAX) return
  for (const part of await letterParts(context.database, prefix)) yield* listsBelow(context, part)
}

async function listOutput(context: PageContext, prefix: string, total: number): Promise<Output> {
  const { database, site } = context
  const isLast = total <= LIST_MAX
  const named = isLast ? null : await findCard(database, prefix as Name)
  const crates = isLast ? await cratesBelow(database, prefix, LIST_MAX) : named ? [named] : []
  const parts = isLast ? [] : await letterParts(database, prefix)
  const path = beginnings(prefix)
  const counts = await prefixCounts(database, path)
  const above = path.filter(
    (beginning, at) =>
      at === 0 ||
      (beginning !== prefix && counts.get(beginning) !== counts.get(path[at + 1] ?? '')),
  )
  return listPage(site, { prefix, total, crates, parts, above })
}

/** Returns the pages below a prefix. A page that would lead to only one other is left out. */
export async function letterParts(db: Queries, prefix: string): Promise<PrefixCount[]> {
  const parts: PrefixCount[] = []
  for (let part of await longerPrefixes(db, prefix)) {
    while (part.total > LIST_MAX) {
      const only = await onlyBelow(db, part)
      if (!only) break
      part = only
    }
    parts.push(part)
  }
  return parts
}

/** Returns the prefix with which all these crates go on; null if they do not. */
async function onlyBelow(db: Queries, { prefix, total }: PrefixCount): Promise<PrefixCount | null> {
  const [only = null] = await longerPrefixes(db, prefix)
  return only?.total === total ? only : null
}

async function removeList({ tree }: PageContext, prefix: string): Promise<void> {
  if (await tree.has(listPath(prefix))) await tree.remove(listPath(prefix))
}

/** Removes the pages that were in the place of a page that is new. */
async function removeFirstBelow(context: PageContext, prefix: string): Promise<void> {
  const { database, tree } = context
  const total = (await prefixCounts(database, [prefix])).get(prefix) ?? 0
  let part = await onlyBelow(database, { prefix, total })
  for (; part; part = await onlyBelow(database, part)) {
    if (!(await tree.has(listPath(part.prefix)))) continue
    await removeList(context, part.prefix)
    return removeBelow(context, part.prefix)
  }
}

async function removeBelow(context: PageContext, prefix: string): Promise<void> {
  for (const part of await longerPrefixes(context.database, prefix)) {
    await removeList(context, part.prefix)
    await removeBelow(context, part.prefix)
  }
}
