import { sortByName } from '../../../core/name.ts'
import { CRATES_FOLDER } from '../../../core/paths/crates.ts'
import { categoryPath, keywordPath, LISTS_FOLDER, userPath } from '../../../core/paths/listings.ts'
import { isListPath, type Output } from '../../../core/paths/tree.ts'
import { unknownCategories } from '../../../core/policy/fields.ts'
import { lettersPage, ORDERED_MAX, orderedPages } from '../../../site/pages/all-crates.ts'
import { apiPage } from '../../../site/pages/api.ts'
import {
  LABEL_CRATES,
  LABELS_SHOWN,
  labelPage,
  labelsPage,
  userPage,
} from '../../../site/pages/labels.ts'
import { RANKS_SHOWN, statisticsPage, WEEKS_SHOWN } from '../../../site/pages/statistics.ts'
import type { SiteConfig } from '../../../site/site-config.ts'
import { column, first, type Queries, type Row } from '../../database/statement.ts'
import { newestOf } from '../../records/owners.ts'
import { type CrateCard, readCards } from '../../records/pages/cards.ts'
import {
  commonLabels,
  crateCount,
  cratesBelow,
  cratesInOrder,
  labelCrates,
  readFigures,
  readLabel,
  readWeeks,
  subcategories,
} from '../../records/pages/overviews.ts'
import type { PageContext } from '../context.ts'
import { letterParts } from './letters.ts'

/** Renders the page of a keyword or category; none if no crate has it. */
export async function labelOutputs(
  { database, site }: PageContext,
  labelId: number,
): Promise<Output[]> {
  const label = await readLabel(database, labelId)
  if (!label || label.crates === 0) return []
  const { kind, slug, crates: total } = label
  if (kind === 'category' && unknownCategories([slug], site).length > 0) return []
  const crates = await labelCrates(database, labelId, LABEL_CRATES)
  const below = kind === 'category' ? await subcategories(database, slug, LABELS_SHOWN) : []
  const page = labelPage(site, { kind, slug, total, crates, below })
  return page === null ? [] : [page]
}

/** Returns the path of the page of a label; none if it is unknown. */
export async function labelPaths({ database }: PageContext, labelId: number): Promise<string[]> {
  const label = await readLabel(database, labelId)
  const path = label && (label.kind === 'keyword' ? keywordPath : categoryPath)(label.slug)
  return path === null ? [] : [path]
}

/** Renders the page of a user; none if the user owns no crates, or if owners are not public. */
export async function userOutputs(
  { database, site }: PageContext,
  userId: number,
): Promise<Output[]> {
  if (!site.owners) return []
  const sql = 'SELECT login, name FROM users WHERE id = ?'
  const user = await first<Pick<Row<'users'>, 'login' | 'name'>>(database, sql, userId)
  const newest = user ? await newestOf(database, userId, LABEL_CRATES + 1) : []
  const crates = await readCards(database, newest)
  if (!user || crates.length === 0) return []
  const hasMore = crates.length > LABEL_CRATES
  const shown = hasMore ? crates.slice(0, LABEL_CRATES) : sortByName(crates)
  return [userPage(site, { ...user, crates: shown, hasMore })]
}

/** Returns where the page of a user is, and where it was before the user was renamed. */
export async function userPaths({ database }: PageContext, userId: number): Promise<string[]> {
  const sql = `SELECT canonical FROM users WHERE id = ?
    UNION ALL SELECT canonical FROM former_logins WHERE user_id = ?`
  return (await column<string>(database, sql, userId, userId)).map(userPath)
}

/** Renders the lists of all crates, of keywords and of categories, statistics and the API page. */
export async function viewOutputs({ database, site }: PageContext): Promise<Output[]> {
  const { crates: total, versions, bytes } = await readFigures(database)
  const popular = await cratesInOrder(database, 'dependents', ORDERED_MAX)
  const newest = await cratesInOrder(database, 'newest', ORDERED_MAX)
  const times = [
    { order: 'updated', crates: await cratesInOrder(database, 'updated', ORDERED_MAX) },
    { order: 'newest', crates: newest.map(createdAt) },
  ] as const
  const others = [{ order: 'dependents', crates: popular } as const, ...(site.feeds ? times : [])]
  const orders = ['name', ...others.map(list => list.order)] as const
  const statistics = {
    crates: total,
    versions,
    bytes,
    weeks: await readWeeks(database, WEEKS_SHOWN),
    popular: popular.slice(0, RANKS_SHOWN).filter(card => card.dependents > 0),
    largest: await cratesInOrder(database, 'bytes', RANKS_SHOWN),
    newest: site.feeds ? newest.slice(0, RANKS_SHOWN).map(createdAt) : [],
  }
  const byName = async () => {
    const crates = await cratesBelow(database, '', ORDERED_MAX)
    return [...orderedPages(site, { order: 'name', crates }, total, orders)]
  }
  const byLetters = async () => {
    const parts = await letterParts(database, '')
    return [lettersPage(site, { total, parts }, statistics.popular, orders)]
  }
  return [
    ...(total <= ORDERED_MAX ? await byName() : await byLetters()),
    ...others.flatMap(list => [...orderedPages(site, list, total, orders)]),
    labelsPage(site, 'keyword', await commonLabels(database, 'keyword', LABELS_SHOWN)),
    labelsPage(site, 'category', await knownCategories(database, site)),
    statisticsPage(site, statistics),
    apiPage(site, popular.find(card => !card.yanked) ?? null),
  ]
}

async function knownCategories(database: Queries, site: SiteConfig) {
  const labels = await commonLabels(database, 'category', LABELS_SHOWN)
  return labels.filter(({ slug }) => unknownCategories([slug], site).length === 0)
}

/** Shows when a crate was new, in the order by that time. */
function createdAt(card: CrateCard): CrateCard {
  return { ...card, updatedAt: card.createdAt }
}

/** Removes the pages of lists that have become shorter; `wanted` are all views. */
export async function pruneViews(
  { database, tree }: PageContext,
  wanted: readonly Output[],
): Promise<void> {
  const paths = new Set(wanted.map(output => output.path))
  // A small registry has no pages by letters; in a large one, `buildList` removes them.
  const isSmall = (await crateCount(database)) <= ORDERED_MAX
  const byLetters = isSmall ? (await tree.files(CRATES_FOLDER)).filter(isListPath) : []
  for (const path of [...byLetters, ...(await tree.files(LISTS_FOLDER))])
    if (!paths.has(path)) await tree.remove(path)
}
