import { type Output, output } from '../../core/output.ts'
import { frontPath, listPath } from '../../core/paths/pages.ts'
import { canonical } from '../../core/search/words.ts'
import type { CrateItem } from '../data/crate.ts'
import { count, plural } from '../elements/amount.ts'
import { crateList } from '../elements/crate-list.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { groupByPrefix } from './prefix-groups.ts'

/** Most crates on one page of the list. */
export const LIST_MAX = 200

/** One page of the list of all crates: those whose canonical name begins with `prefix`. */
export interface ListData {
  /** Lowercase, `-` as `_`; empty for the first page. */
  readonly prefix: string
  readonly total: number
  /** All of them, when they are at most `LIST_MAX`; otherwise the one whose whole name is the prefix, if it exists. */
  readonly crates: readonly CrateItem[]
  /** Pages with one letter more, when there are too many crates for this one. */
  readonly parts: readonly { readonly prefix: string; readonly total: number }[]
}

/** All pages of the list of crates, in any order given. */
export function listPages(site: SiteConfig, crates: Iterable<CrateItem>): Output[] {
  return listData(crates).map(tier => listPage(site, tier))
}

/** What the pages of the list are to say. */
export function listData(crates: Iterable<CrateItem>): ListData[] {
  const sorted = [...crates]
    .map(card => ({ key: canonical(card.name), card }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const all = groupByPrefix(
    sorted.map(one => one.key),
    LIST_MAX,
  )
  const totals = new Map(all.map(tier => [tier.prefix, tier.total]))
  return all.map(tier => ({
    prefix: tier.prefix,
    total: tier.total,
    crates: sorted
      .slice(tier.from, tier.from + (tier.next.length === 0 ? tier.total : tier.own))
      .map(one => one.card),
    parts: tier.next.map(letter => ({
      prefix: tier.prefix + letter,
      total: totals.get(tier.prefix + letter) ?? 0,
    })),
  }))
}

/** One page of the list of all crates. */
export function listPage(site: SiteConfig, tier: ListData): Output {
  const path = listPath(tier.prefix)
  const to = linker(site, path)
  const title = tier.prefix === '' ? 'All crates' : `Crates: ${tier.prefix}…`
  const main = html`<div class="wide page">
${trail(tier.prefix, to)}
<h1>${title}</h1>
<p class="lead">${tier.total === 0 ? 'No crates yet.' : plural(tier.total, 'crate')}</p>
${
  tier.parts.length === 0
    ? null
    : html`<ul class="letters">${tier.parts.map(
        part =>
          html`<li><a href="${to(listPath(part.prefix))}"><strong>${part.prefix}</strong> <span class="quiet">${count(part.total)}</span></a></li>`,
      )}</ul>`
}
${tier.crates.length === 0 ? null : crateList(tier.crates, to)}
</div>`
  return output(
    path,
    layout(site, { path, title, description: `${title} of ${site.title}.`, main }),
  )
}

/** The way up: each shorter prefix has a page. */
function trail(prefix: string, to: Linker) {
  if (prefix === '') return null
  const shorter = [...prefix].map((_, at) => prefix.slice(0, at))
  return html`<nav class="trail" aria-label="Trail"><a href="${to(frontPath)}">Front page</a>${shorter.map(
    one => html`<a href="${to(listPath(one))}">${one === '' ? 'All crates' : `${one}…`}</a>`,
  )}</nav>`
}
