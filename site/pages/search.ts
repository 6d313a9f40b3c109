import { type Output, output } from '../../core/output.ts'
import { listPath } from '../../core/paths/pages.ts'
import { searchPath } from '../../core/paths/search.ts'
import type { CrateItem } from '../crate-data.ts'
import { crateList, type PagePosition, pager, plural } from '../elements/elements.ts'
import { linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** The results of a search in the daemon. */
export interface SearchResults extends PagePosition {
  readonly query: string
  readonly crates: readonly CrateItem[]
  readonly total: number
}

/** Renders the search page of a static registry; a script fills it from the search files. */
export function staticSearchPage(site: SiteConfig): Output {
  const to = linker(site, searchPath)
  const body = html`<div data-results="${to('search/')}" data-crates="${to('crates/')}">
<p data-status role="status" class="lead"></p>
<ul class="cards" data-list></ul>
<button type="button" class="button" data-more hidden>Show more</button>
</div>
<noscript><p class="notice">Search needs JavaScript here, because this registry consists of plain files. The <a href="${to(listPath(''))}">list of all crates</a> works without it.</p></noscript>`
  return output(searchPath, frame(site, '', body))
}

/** Renders the search page with the daemon's results; it needs no script. */
export function searchPage(site: SiteConfig, results: SearchResults): string {
  const to = linker(site, searchPath)
  const { query, crates, total } = results
  const found = total === 0 ? 'No crates' : plural(total, 'crate')
  const body = html`<p class="lead" role="status">${query.trim() === '' ? 'Type a name or a few words.' : `${found} for “${query}”`}</p>
${crates.length === 0 ? null : crateList(crates, to)}
${pager(results, number => `?q=${encodeURIComponent(query)}&page=${number}`)}`
  return frame(site, query, body)
}

function frame(site: SiteConfig, query: string, body: Markup): string {
  const main = html`<div class="wide page"><h1>Search</h1>
${body}
</div>`
  return layout(site, { path: searchPath, title: 'Search', main, query, canonical: null })
}
