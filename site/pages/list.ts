import { canonicalName } from '../../core/name.ts'
import { type Output, output } from '../../core/output.ts'
import { frontPath, listPath } from '../../core/paths/pages.ts'
import type { CrateItem } from '../crate-data.ts'
import { crateList, formatNumber, plural } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { groupByPrefix } from './prefix-groups.ts'

/** Most crates on one page of the list. */
export const LIST_MAX = 200

/** A page of the list of all crates: those whose canonical name begins with `prefix`. */
export interface ListData {
  /** Lowercase, `-` as `_`; empty for the first page. */
  readonly prefix: string
  readonly total: number
  /** All crates when they are at most `LIST_MAX`; otherwise the one named like the prefix, if any. */
  readonly crates: readonly CrateItem[]
  /** The pages with one letter more, when this one cannot show all its crates. */
  readonly parts: readonly { readonly prefix: string; readonly total: number }[]
}

/** What the pages of the list of all crates say. */
export function listData(crates: Iterable<CrateItem>): ListData[] {
  const sorted = [...crates]
    .map(crate => ({ key: canonicalName(crate.name), crate }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const keys = sorted.map(one => one.key)
  const groups = groupByPrefix(keys, LIST_MAX)
  const totals = new Map(groups.map(group => [group.prefix, group.total]))
  return groups.map(({ prefix, from, total, own, next }) => ({
    prefix,
    total,
    crates: sorted.slice(from, from + (next.length === 0 ? total : own)).map(one => one.crate),
    parts: next
      .map(letter => prefix + letter)
      .map(longer => ({ prefix: longer, total: totals.get(longer) ?? 0 })),
  }))
}

/** One page of the list of all crates. */
export function listPage(site: SiteConfig, { prefix, total, crates, parts }: ListData): Output {
  const path = listPath(prefix)
  const to = linker(site, path)
  const title = prefix === '' ? 'All crates' : `Crates: ${prefix}…`
  const letters = parts.map(
    part =>
      html`<li><a href="${to(listPath(part.prefix))}"><strong>${part.prefix}</strong> <span class="quiet">${formatNumber(part.total)}</span></a></li>`,
  )
  const main = html`<div class="wide page">
${trail(prefix, to)}
<h1>${title}</h1>
<p class="lead">${total === 0 ? 'No crates yet.' : plural(total, 'crate')}</p>
${letters.length === 0 ? null : html`<ul class="letters">${letters}</ul>`}
${crates.length === 0 ? null : crateList(crates, to)}
</div>`
  return output(path, layout(site, { path, title, main }))
}

/** The way up: each shorter prefix has a page. */
function trail(prefix: string, to: Linker): Markup | null {
  if (prefix === '') return null
  const shorter = [...prefix].map((_, at) => prefix.slice(0, at))
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="${to(frontPath)}">Home</a>${shorter.map(
    one => html`<a href="${to(listPath(one))}">${one === '' ? 'All crates' : `${one}…`}</a>`,
  )}</nav>`
}
