import type { Output } from '../../core/paths/tree.ts'
import type { CrateItem } from '../../site/crate-data.ts'
import {
  lettersPage,
  type OrderedList,
  orderedPages,
  type PrefixCount,
} from '../../site/pages/all-crates.ts'
import { apiPage } from '../../site/pages/api.ts'
import { type LabelItem, labelsPage } from '../../site/pages/labels.ts'
import { type Statistics, statisticsPage } from '../../site/pages/statistics.ts'
import type { SiteConfig } from '../../site/site-config.ts'

/** What the pages show that overlook the whole registry. */
export interface Views {
  readonly statistics: Statistics
  /** The list by name is missing if it would be too long. */
  readonly lists: readonly OrderedList[]
  /** The first letters, for the page that then takes its place. */
  readonly letters: readonly PrefixCount[]
  readonly keywords: readonly LabelItem[]
  readonly categories: readonly LabelItem[]
}

/** Orders crates by the number of their dependents; of equal ones the first stays first. */
export function byDependents<T extends CrateItem>(crates: readonly T[]): T[] {
  return crates.toSorted((a, b) => (b.dependents ?? 0) - (a.dependents ?? 0))
}

/** Renders the lists of all crates, of keywords and of categories, statistics and the API page. */
export function* renderViews(site: SiteConfig, views: Views): Generator<Output> {
  const { statistics, lists, letters } = views
  const { crates: total, popular } = statistics
  const others = lists.map(list => list.order).filter(order => order !== 'name')
  const orders = ['name', ...others] as const
  for (const list of lists) yield* orderedPages(site, list, total, orders)
  if (others.length === lists.length)
    yield lettersPage(site, { total, parts: letters }, popular, orders)
  yield labelsPage(site, 'keyword', views.keywords)
  yield labelsPage(site, 'category', views.categories)
  yield statisticsPage(site, statistics)
  const crates = lists.flatMap(list => (list.order === 'dependents' ? list.crates : []))
  yield apiPage(site, crates.find(one => !one.yanked) ?? null)
}
