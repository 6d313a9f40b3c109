import { CRATES_IO_CATEGORIES, categoryTitle } from '../../core/category.ts'
import { isName } from '../../core/name.ts'
import { searchPath } from '../../core/paths/search.ts'
import { frontPath, listPath, type Output, output } from '../../core/paths/tree.ts'
import type { Outcome } from '../../core/search/hits.ts'
import { betterText, headlineOf, notesOf } from '../../core/search/notes.ts'
import {
  FILTERS,
  type Filter,
  isEmptySearch,
  readSearch,
  type SearchRequest,
  SORTS,
  type Sort,
  searchQuery,
} from '../../core/search/request.ts'
import type { CrateItem } from '../crate-data.ts'
import { crateList, type PagePosition, pager } from '../elements/elements.ts'
import { type Linker, linker, searchLink, webLink } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

export interface SearchResults extends PagePosition {
  readonly request: SearchRequest
  readonly outcome: Outcome
  readonly crates: readonly CrateItem[]
}

/** Renders the search page of a static registry; a script fills it from the search files. */
export function staticSearchPage(site: SiteConfig): Output {
  const to = linker(site, searchPath)
  const nothing = readSearch(() => null)
  const body = html`<div data-results="${to('search/')}" data-crates="${to('crates/')}">
<p data-status role="status" class="lead"></p>
<div data-notes></div>
${narrowing(site, nothing)}
<ul class="cards" data-list></ul>
<nav class="pager" aria-label="Pages" data-pager hidden></nav>
<div data-elsewhere hidden>${elsewhere(site, to, null)}</div>
</div>
<noscript><p class="notice">Search needs JavaScript here, because this registry consists of plain files. The <a href="${to(listPath(''))}">list of all crates</a> works without it.</p></noscript>`
  return output(searchPath, frame(site, '', body))
}

/** Renders the search page with the daemon's results; it needs no script. */
export function searchPage(site: SiteConfig, results: SearchResults): string {
  const to = linker(site, searchPath)
  const { request, outcome, crates } = results
  const { q } = request
  const better = betterText(q, outcome.leniency)
  const isVain = outcome.total === 0 && !isEmptySearch(request)
  const body = html`<p class="lead" role="status">${headlineOf(request, outcome)}</p>
${notesOf(outcome).map(note => html`<p class="note">${note}</p>\n`)}
${better === null ? null : html`<p class="note">Did you mean <a href="${searchLink(to, { ...request, q: better, page: 1 })}">${better}</a>?</p>`}
${narrowing(site, request)}
${crates.length === 0 ? null : crateList(crates, to)}
${pager(results, page => searchQuery({ ...request, page }) || './')}
${isVain || outcome.leniency.similar.length > 0 ? elsewhere(site, to, q) : null}`
  return frame(site, q, body)
}

function frame(site: SiteConfig, query: string, body: Markup): string {
  const main = html`<div class="wide page"><h1>Search</h1>
${body}
</div>`
  const title = query.trim() === '' ? 'Search' : `“${query.trim()}” · Search`
  return layout(site, { path: searchPath, title, main, query, canonical: null })
}

const FIELDS: Readonly<Record<Filter, readonly [label: string, hint: string]>> = {
  keyword: ['Keyword', 'json'],
  category: ['Category', 'parser-implementations'],
  license: ['License', 'MIT'],
  rust: ['Rust version', '1.70'],
  owner: ['Owner', 'username'],
  advisory: ['Advisory', 'any or CVE-2026-1234'],
}

const ORDERS: Readonly<Record<Sort, string>> = {
  relevance: 'Relevance',
  name: 'Name',
  newest: 'Newest version',
  dependents: 'Most depended on',
}

/** Renders the filters and the order of the search form, closed until one is chosen. */
function narrowing(site: SiteConfig, request: SearchRequest): Markup {
  const { q, filters, sort } = request
  // A tree of files alone has no times; pages that do not name owners have no owners.
  const orders = SORTS.filter(order => order !== 'newest' || site.feeds)
  const filtered = FILTERS.filter(filter => filter !== 'owner' || site.owners)
  const fields = filtered.map(filter => {
    const [label, hint] = FIELDS[filter]
    const list = filter === 'category' ? html` list="categories"` : null
    return html`<label class="field"><span>${label}</span> <input name="${filter}"${list} form="search" value="${filters[filter] ?? ''}" placeholder="${hint}" autocapitalize="off" spellcheck="false"></label>\n`
  })
  const isOpen = sort !== SORTS[0] || Object.keys(filters).length > 0
  const clear = searchQuery({ q }) || './'
  return html`<details class="refine"${isOpen ? html` open` : null}>
<summary>Filter and sort</summary>
<div class="form row">
<label class="field"><span>Sort by</span> <select name="sort" form="search">${orders.map(order => html`<option value="${order === SORTS[0] ? '' : order}"${order === sort ? html` selected` : null}>${ORDERS[order]}</option>`)}</select></label>
${fields}
<datalist id="categories">${CRATES_IO_CATEGORIES.map(slug => html`<option value="${slug}">${categoryTitle(slug)}</option>`)}</datalist>
<button class="button" form="search">Apply</button> <a href="${clear}">Clear</a>
</div>
<p class="quiet">A crate that does not say which Rust it needs matches any Rust version.</p>
</details>`
}

/** Renders where else to look; a script puts the text in place of `{crate}` if `q` is null. */
function elsewhere(site: SiteConfig, to: Linker, q: string | null): Markup {
  const name = q?.trim() ?? '{crate}'
  const registries = q === null || isName(name) ? site.registries : []
  const links = registries.flatMap(({ title, page }) => {
    const url = page.replaceAll('{crate}', name)
    const isLink = webLink(page.replaceAll('{crate}', 'name')) !== null
    return isLink
      ? [html`<li><a href="${url}" data-page>Look for <code>${name}</code> on ${title}</a></li>\n`]
      : []
  })
  const search = `https://crates.io/search?q=${q === null ? name : encodeURIComponent(name)}`
  const cratesIo = html`<li><a href="${search}" data-search>Search crates.io for <code>${name}</code></a></li>
`
  return html`<ul class="plain">
${links}${site.cratesIo && name !== '' ? cratesIo : null}<li><a href="${to(listPath(''))}">All crates</a></li>
<li><a href="${to(frontPath)}">Home</a></li>
</ul>`
}
