import { categoryTitle } from '../../core/category.ts'
import {
  categoriesPath,
  categoryPath,
  keywordPath,
  keywordsPath,
  userPath,
} from '../../core/paths/listings.ts'
import { frontPath, type Output, output } from '../../core/paths/tree.ts'
import { counted, formatNumber } from '../../core/quantity.ts'
import type { CrateItem, OwnerRow } from '../crate-data.ts'
import { crateList, filterBox, type Step, trail } from '../elements/elements.ts'
import { type Linker, linker, searchLink } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

export const LABEL_CRATES = 100

export const LABELS_SHOWN = 500

const HOME: Step = [frontPath, 'Home']

/** A keyword or category, in lowercase, with the number of its crates. */
export interface LabelItem {
  readonly slug: string
  readonly crates: number
}

export interface LabelData {
  readonly kind: 'keyword' | 'category'
  readonly slug: string
  readonly total: number
  /** At most `LABEL_CRATES`, those with the most dependents. */
  readonly crates: readonly CrateItem[]
  readonly below: readonly LabelItem[]
}

/** Renders the page of a keyword or category; null if its slug cannot be a path. */
export function labelPage(site: SiteConfig, data: LabelData): Output | null {
  const { kind, slug, total, crates } = data
  const path = kind === 'keyword' ? keywordPath(slug) : categoryPath(slug)
  if (path === null) return null
  const to = linker(site, path)
  const title = kind === 'keyword' ? `Keyword: ${slug}` : `Category: ${categoryTitle(slug)}`
  const all = searchLink(to, { filters: { [kind]: slug } })
  const lead =
    crates.length === total
      ? html`${counted(total, 'crate')}. <a href="${all}">Search these crates</a>`
      : html`The ${crates.length} most depended on of ${counted(total, 'crate')}. <a href="${all}">Search all of them</a>`
  const main = html`<div class="wide page">
${trail(to, HOME, ...(kind === 'keyword' ? [[keywordsPath, 'Keywords'] as const] : parentsOf(slug)))}
<h1>${title}</h1>
<p class="lead">${lead}</p>
${data.below.length === 0 ? null : categoryLinks(data.below, to)}
${crateList(crates, to)}
</div>`
  return output(path, layout(site, { path, title, main }))
}

/** Returns the pages above a category: all categories, and the categories that contain it. */
function parentsOf(slug: string): Step[] {
  const levels = slug.split('::')
  const parents = levels.slice(0, -1).flatMap((_, at): Step[] => {
    const parent = levels.slice(0, at + 1).join('::')
    const path = categoryPath(parent)
    return path === null ? [] : [[path, categoryTitle(parent)]]
  })
  return [[categoriesPath, 'Categories'], ...parents]
}

/** Renders the page that lists keywords, or categories: at most `LABELS_SHOWN` of each. */
export function labelsPage(
  site: SiteConfig,
  kind: LabelData['kind'],
  labels: readonly LabelItem[],
): Output {
  const path = kind === 'keyword' ? keywordsPath : categoriesPath
  const to = linker(site, path)
  const title = kind === 'keyword' ? 'Keywords' : 'Categories'
  const order = kind === 'keyword' ? ', most used first' : ''
  const lead =
    labels.length === 0
      ? `No crate has a ${kind} yet.`
      : labels.length < LABELS_SHOWN
        ? `${counted(labels.length, kind, title.toLowerCase())}${order}.`
        : `The ${formatNumber(LABELS_SHOWN)} most used ${title.toLowerCase()}.`
  const links =
    kind === 'keyword'
      ? html`${filterBox('keyword-list', 'json')}${keywordLinks(labels, to, 'keyword-list')}`
      : categoryLinks(
          labels.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
          to,
        )
  const main = html`<div class="wide page">
${trail(to, HOME)}
<h1>${title}</h1>
<p class="lead">${lead}</p>
${links}
</div>`
  return output(path, layout(site, { path, title, main }))
}

/** Renders links to the pages of keywords, with the numbers of their crates. */
export function keywordLinks(
  keywords: readonly LabelItem[],
  to: Linker,
  id: string | null = null,
): Markup {
  const links = keywords.flatMap(({ slug, crates }): LabelLink[] => {
    const path = keywordPath(slug)
    return path === null ? [] : [[to(path), slug, crates]]
  })
  return labelLinks(links, id)
}

type LabelLink = readonly [href: string, text: string, crates: number]

/** Renders links to lists, with the numbers of their crates. */
export function labelLinks(links: readonly LabelLink[], id: string | null = null): Markup {
  return html`<ul class="tags"${id && html` id="${id}"`}>${links.map(link => html`<li>${labelLink(...link)}</li>\n`)}</ul>`
}

/** Renders links to the pages of categories as a tree; they are sorted by slug. */
function categoryLinks(categories: readonly LabelItem[], to: Linker): Markup {
  const [first] = categories
  const depth = first ? depthOf(first) : 0
  const items: Markup[] = []
  for (let at = 0; at < categories.length; ) {
    const { slug, crates } = categories[at] as LabelItem
    let end = at + 1
    while (depthOf(categories[end]) > depth) end++
    const below = categories.slice(at + 1, end)
    const path = categoryPath(slug)
    at = end
    if (path === null) continue
    const link = labelLink(to(path), categoryTitle(slug), crates)
    items.push(
      html`<li>${link}${below.length === 0 ? null : html`\n${categoryLinks(below, to)}`}</li>\n`,
    )
  }
  return html`<ul class="categories">${items}</ul>`
}

function depthOf(label: LabelItem | undefined): number {
  return label === undefined ? 0 : label.slug.split('::').length
}

function labelLink(...[href, text, crates]: LabelLink): Markup {
  return html`<a href="${href}">${text} <span class="quiet">${formatNumber(crates)}</span></a>`
}

export interface UserData extends OwnerRow {
  /** At most `LABEL_CRATES`: all by name, or the newest ones. */
  readonly crates: readonly CrateItem[]
  readonly hasMore: boolean
}

/** Renders the page of a user. */
export function userPage(site: SiteConfig, { login, name, crates, hasMore }: UserData): Output {
  const path = userPath(login)
  const to = linker(site, path)
  const all = searchLink(to, { filters: { owner: login } })
  const lead = hasMore
    ? html`The newest ${formatNumber(crates.length)} of the crates that ${login} owns. <a href="${all}">Search all of them</a>`
    : html`Owner of ${counted(crates.length, 'crate')}. <a href="${all}">Search these crates</a>`
  const main = html`<div class="wide page">
${trail(to, HOME)}
<h1>${login}${name === null || name === login ? null : html` <span class="quiet">${name}</span>`}</h1>
<p class="lead">${lead}</p>
${crateList(crates, to)}
</div>`
  return output(path, layout(site, { path, title: login, main }))
}
