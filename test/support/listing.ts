import type { About } from '../../core/manifest/manifest.ts'
import { canonicalName, sortByName } from '../../core/name.ts'
import type { Output } from '../../core/paths/tree.ts'
import { type Label, labelsOf } from '../../generator/records/pages/labels.ts'
import type { CrateItem } from '../../site/crate-data.ts'
import {
  LIST_MAX,
  type ListData,
  lettersPage,
  listPage,
  ORDERED_MAX,
  orderedPages,
} from '../../site/pages/all-crates.ts'
import { apiPage } from '../../site/pages/api.ts'
import {
  LABEL_CRATES,
  LABELS_SHOWN,
  type LabelItem,
  labelPage,
  labelsPage,
} from '../../site/pages/labels.ts'
import { sitemapIndex, sitemapPart } from '../../site/pages/search-engines.ts'
import { RANKS_SHOWN, type Statistics, statisticsPage } from '../../site/pages/statistics.ts'
import type { SiteConfig } from '../../site/site-config.ts'

/** A crate of a registry whose crates are all known at once. */
interface ListedCrate extends CrateItem {
  readonly about: CrateItem['about'] & Pick<About, 'categories' | 'license'>
  readonly updatedAt: string | null
  readonly dependents: number
  readonly bytes: number
}

/** A keyword or category with all its crates. */
interface FullLabel extends Label {
  readonly crates: ListedCrate[]
}

/** Renders the lists of all crates, but not the search; `totals` count all versions. */
export function* renderListing(
  site: SiteConfig,
  crates: readonly ListedCrate[],
  totals: Pick<Statistics, 'versions' | 'bytes'>,
): Generator<Output> {
  const sorted = sortByName(crates)
  const popular = sorted.toSorted((a, b) => b.dependents - a.dependents)
  const labels = labelsIn(popular)
  yield* labelPages(site, labels)
  const letters = listData(sorted)
  for (const data of letters) if (data.prefix !== '') yield listPage(site, data)
  const [total, orders] = [sorted.length, ['name', 'dependents'] as const]
  const ranks = popular.slice(0, RANKS_SHOWN).filter(crate => crate.dependents > 0)
  const [first] = letters
  if (first) yield lettersPage(site, { total, parts: first.parts }, ranks, orders)
  else yield* orderedPages(site, { order: 'name', crates: sorted }, total, orders)
  const most = { order: 'dependents', crates: popular.slice(0, ORDERED_MAX) } as const
  yield* orderedPages(site, most, total, orders)
  for (const kind of ['keyword', 'category'] as const)
    yield labelsPage(site, kind, commonOf(labels, kind, LABELS_SHOWN))
  const largest = sorted.toSorted((a, b) => b.bytes - a.bytes).slice(0, RANKS_SHOWN)
  const rest = { crates: total, weeks: [], newest: [], popular: ranks, largest }
  yield statisticsPage(site, { ...totals, ...rest })
  yield apiPage(site, popular.find(crate => !crate.yanked) ?? null)
  if (!site.private) yield* [...sitemapIndex(site, [0]), sitemapPart(site, 0, sorted)]
}

/** Returns all labels of crates that have an unyanked version. */
function labelsIn(crates: readonly ListedCrate[]): FullLabel[] {
  const found = new Map<number, FullLabel>()
  for (const crate of crates.filter(crate => !crate.yanked)) {
    for (const [id, label] of labelsOf(crate.about)) {
      const some = found.get(id)
      if (some) some.crates.push(crate)
      else found.set(id, { ...label, crates: [crate] })
    }
  }
  return [...found.values()]
}

/** Returns the labels of a kind that most crates have, at most `limit`. */
function commonOf(labels: readonly FullLabel[], kind: Label['kind'], limit: number): LabelItem[] {
  const own = labels.filter(label => label.kind === kind)
  const items = own.map(({ slug, crates }) => ({ slug, crates: crates.length }))
  return items.sort((a, b) => b.crates - a.crates || (a.slug < b.slug ? -1 : 1)).slice(0, limit)
}

function* labelPages(site: SiteConfig, labels: readonly FullLabel[]): Generator<Output> {
  const categories = labels.filter(label => label.kind === 'category')
  for (const { kind, slug, crates } of labels) {
    const below = categories.filter(
      category => kind === category.kind && category.slug.startsWith(`${slug}::`),
    )
    const data = { kind, slug, total: crates.length, crates: crates.slice(0, LABEL_CRATES) }
    const items = commonOf(below, 'category', LABELS_SHOWN)
    items.sort((a, b) => (a.slug < b.slug ? -1 : 1))
    const page = labelPage(site, { ...data, below: items })
    if (page) yield page
  }
}

/** Returns the contents of the pages by letters; none for crates that an ordered list shows. */
function listData(crates: Iterable<CrateItem>): ListData[] {
  const sorted = sortByName(crates)
  return sorted.length <= ORDERED_MAX ? [] : dataBelow('', sorted, [])
}

/** Returns one page and, if it has too many crates, also the pages for all longer prefixes. */
function dataBelow(
  prefix: string,
  crates: readonly CrateItem[],
  above: readonly string[],
): ListData[] {
  const total = crates.length
  if (total <= LIST_MAX) return [{ prefix, total, crates, parts: [], above }]
  const longer = new Map<string, CrateItem[]>()
  for (const crate of crates) {
    const part = canonicalName(crate.name).slice(0, prefix.length + 1)
    const some = longer.get(part)
    if (some) some.push(crate)
    else longer.set(part, [crate])
  }
  const [[only, all] = ['', []]] = longer
  // A page with one link would only be in the way.
  if (longer.size === 1 && only !== prefix) return dataBelow(only, all, above)
  const own = longer.get(prefix) ?? []
  longer.delete(prefix)
  const pages = [...longer].map(([part, some]) => dataBelow(part, some, [...above, prefix]))
  const parts = pages.flatMap(([first]) => first ?? [])
  return [{ prefix, total, crates: own, parts, above }, ...pages.flat()]
}
