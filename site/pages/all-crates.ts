import { canonicalName } from '../../core/name.ts'
import { type ListOrder, orderedListPath } from '../../core/paths/listings.ts'
import { searchPath } from '../../core/paths/search.ts'
import { frontPath, listPath, type Output, output } from '../../core/paths/tree.ts'
import { counted, formatNumber } from '../../core/quantity.ts'
import type { CrateItem } from '../crate-data.ts'
import { crateDependents, crateList, pager, type Step, trail } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { labelLinks } from './labels.ts'

/** Maximum number of crates that are listed in an order; by name, larger lists go by letters. */
export const ORDERED_MAX = 1000

export const ORDERED_PAGE = 100

export const LIST_MAX = 200

const POPULAR_SHOWN = 20

/** All crates, or the first ones, in one order. */
export interface OrderedList {
  readonly order: ListOrder
  /** At most `ORDERED_MAX`. */
  readonly crates: readonly CrateItem[]
}

const ORDERS: ReadonlyMap<ListOrder, { readonly link: string; readonly by: string }> = new Map([
  ['name', { link: 'Name', by: 'by name' }],
  ['dependents', { link: 'Most depended on', by: 'with the most dependents' }],
  ['updated', { link: 'Recently updated', by: 'that were updated last' }],
  ['newest', { link: 'Newest', by: 'that are new' }],
])

/** Renders the pages of a list in an order; `total` counts all crates, `orders` are all lists. */
export function* orderedPages(
  site: SiteConfig,
  list: OrderedList,
  total: number,
  orders: readonly ListOrder[],
): Generator<Output> {
  const { order, crates } = list
  const last = Math.max(1, Math.ceil(crates.length / ORDERED_PAGE))
  for (let page = 1; page <= last; page++) {
    const path = orderedListPath(order, page)
    const to = linker(site, path)
    const shown = crates.slice((page - 1) * ORDERED_PAGE, page * ORDERED_PAGE)
    const isWhole = crates.length === total
    const by = ORDERS.get(order)?.by ?? ''
    const lead = html`The ${formatNumber(crates.length)} of ${counted(total, 'crate')} ${by}. <a href="${to(searchPath)}">Search</a> finds all.`
    const figure = order === 'dependents' ? crateDependents : undefined
    const isLettered = order === 'name' && last > 1
    const cards = isLettered ? sections(shown, to) : crateList(shown, to, figure)
    const main = html`<div class="wide page">
<h1>All crates</h1>
<p class="lead">${total === 0 ? 'No crates yet.' : isWhole ? counted(total, 'crate') : lead}</p>
${orderLinks(order, orders, to)}
${isLettered ? jumps(crates, to) : null}
${shown.length === 0 ? null : cards}
${pager({ page, last }, number => to(orderedListPath(order, number)))}
</div>`
    yield output(path, layout(site, { path, title: titleOf(order, page), main }))
  }
}

function titleOf(order: ListOrder, page: number): string {
  const title = order === 'name' ? 'All crates' : `All crates: ${ORDERS.get(order)?.link}`
  return page === 1 ? title : `${title}, page ${page}`
}

function orderLinks(own: ListOrder | null, orders: readonly ListOrder[], to: Linker): Markup {
  const links = orders.map(
    order =>
      html`<li><a href="${to(orderedListPath(order, 1))}"${own === order ? html` aria-current="page"` : null}>${ORDERS.get(order)?.link}</a></li>`,
  )
  return html`<nav class="orders" aria-label="Order"><ul class="tags">${links}</ul></nav>`
}

function jumps(crates: readonly CrateItem[], to: Linker): Markup {
  const first = new Map<string, number>()
  for (const [at, crate] of crates.entries()) {
    const letter = letterOf(crate)
    if (!first.has(letter)) first.set(letter, at)
  }
  const links = [...first].map(([letter, at]) => {
    const page = to(orderedListPath('name', Math.floor(at / ORDERED_PAGE) + 1))
    return html`<li><a href="${page}#letter-${letter}">${letter}</a></li>`
  })
  return html`<nav class="jumps" aria-label="First letter"><ul class="tags">${links}</ul></nav>`
}

function sections(crates: readonly CrateItem[], to: Linker): Markup[] {
  return [...new Set(crates.map(letterOf))].map(letter => {
    const ofLetter = crates.filter(crate => letterOf(crate) === letter)
    return html`<h2 class="letter" id="letter-${letter}">${letter}</h2>
${crateList(ofLetter, to)}
`
  })
}

function letterOf({ name }: CrateItem): string {
  return canonicalName(name).charAt(0)
}

/** A page of a list by letters, with crates whose canonical name begins with `prefix`. */
export interface ListData {
  /** In canonical form (lowercase, `-` as `_`); empty for the first page. */
  readonly prefix: string
  readonly total: number
  /** All crates, if at most `LIST_MAX`; otherwise only the crate named like the prefix, if any. */
  readonly crates: readonly CrateItem[]
  /** The pages with longer prefixes, if this page cannot show all its crates. */
  readonly parts: readonly PrefixCount[]
  /** The prefixes of the pages above this one, from the first page. */
  readonly above: readonly string[]
}

export interface PrefixCount {
  readonly prefix: string
  readonly total: number
}

const step = (prefix: string): Step => [listPath(prefix), prefix ? `${prefix}…` : 'All crates']

/** Renders one page of the list by letters, except the first. */
export function listPage(site: SiteConfig, data: ListData): Output {
  const { prefix, total, crates, above } = data
  const path = listPath(prefix)
  const to = linker(site, path)
  const title = `Crates: ${prefix}…`
  const main = html`<div class="wide page">
${trail(to, [frontPath, 'Home'], ...above.map(step))}
<h1>${title}</h1>
<p class="lead">${counted(total, 'crate')}</p>
${letters(data, to)}
${crates.length === 0 ? null : crateList(crates, to)}
</div>`
  return output(path, layout(site, { path, title, main }))
}

/** Renders the first page of the list by letters, with the crates that most others depend on. */
export function lettersPage(
  site: SiteConfig,
  data: Pick<ListData, 'total' | 'parts'>,
  popular: readonly CrateItem[],
  orders: readonly ListOrder[],
): Output {
  const path = listPath('')
  const to = linker(site, path)
  const title = 'All crates'
  const required = html`<h2><a href="${to(orderedListPath('dependents', 1))}">Most depended on</a></h2>
${crateList(popular.slice(0, POPULAR_SHOWN), to, crateDependents)}`
  const main = html`<div class="wide page">
<h1>${title}</h1>
<p class="lead">${counted(data.total, 'crate')}</p>
${orderLinks('name', orders, to)}
${letters(data, to)}
${popular.length === 0 ? null : required}
</div>`
  return output(path, layout(site, { path, title, main }))
}

function letters({ parts }: Pick<ListData, 'parts'>, to: Linker): Markup | null {
  if (parts.length === 0) return null
  return labelLinks(parts.map(({ prefix, total }) => [to(listPath(prefix)), prefix, total]))
}
