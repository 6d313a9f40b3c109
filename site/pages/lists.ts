import { canonicalName, sortByName } from '../../core/name.ts'
import { frontPath, listPath, type Output, output } from '../../core/paths/tree.ts'
import type { CrateItem } from '../crate-data.ts'
import { crateList, formatNumber, plural } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** Maximum number of crates on one page of the list. */
export const LIST_MAX = 200

/** A page of the list of all crates, with crates whose canonical name begins with `prefix`. */
export interface ListData {
  /** In canonical form (lowercase, `-` as `_`); empty for the first page. */
  readonly prefix: string
  readonly total: number
  /** All crates, if at most `LIST_MAX`; otherwise only the crate named like the prefix, if any. */
  readonly crates: readonly CrateItem[]
  /** The pages whose prefix has one more letter, if this page cannot show all its crates. */
  readonly parts: readonly { readonly prefix: string; readonly total: number }[]
}

/** Returns the contents of all pages of the list of crates. */
export function listData(crates: Iterable<CrateItem>): ListData[] {
  return dataBelow('', sortByName(crates))
}

/** Returns one page and, if it has too many crates, also the pages for all longer prefixes. */
function dataBelow(prefix: string, crates: readonly CrateItem[]): ListData[] {
  const total = crates.length
  if (total <= LIST_MAX) return [{ prefix, total, crates, parts: [] }]
  const longer = new Map<string, CrateItem[]>()
  for (const crate of crates) {
    const part = canonicalName(crate.name).slice(0, prefix.length + 1)
    const some = longer.get(part)
    if (some) some.push(crate)
    else longer.set(part, [crate])
  }
  const own = longer.get(prefix) ?? []
  longer.delete(prefix)
  const parts = [...longer].map(([part, some]) => ({ prefix: part, total: some.length }))
  const below = [...longer].flatMap(([part, some]) => dataBelow(part, some))
  return [{ prefix, total, crates: own, parts }, ...below]
}

/** Renders one page of the list of all crates. */
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

/** Renders links to the pages of all shorter prefixes. */
function trail(prefix: string, to: Linker): Markup | null {
  if (prefix === '') return null
  const shorter = [...prefix].map((_, at) => prefix.slice(0, at))
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="${to(frontPath)}">Home</a>${shorter.map(
    one => html`<a href="${to(listPath(one))}">${one === '' ? 'All crates' : `${one}…`}</a>`,
  )}</nav>`
}
