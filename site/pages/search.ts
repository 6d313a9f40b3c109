import { type Output, output } from '../../core/output.ts'
import { listPath } from '../../core/paths/pages.ts'
import { searchPath } from '../../core/paths/search.ts'
import type { CrateItem } from '../data/crate.ts'
import { plural } from '../elements/amount.ts'
import { crateList } from '../elements/crate-list.ts'
import { linker } from '../elements/links.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import { pager } from '../elements/pager.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** The answer to a search, when a server gives it. */
export interface SearchResults {
  readonly query: string
  readonly crates: readonly CrateItem[]
  readonly total: number
  /** From 1. */
  readonly page: number
  readonly perPage: number
  readonly viewer?: string | null
}

/** The search page of a tree without a daemon: a script fills it from the shards. */
export function staticSearchPage(site: SiteConfig): Output {
  const to = linker(site, searchPath)
  const body = html`<div data-results="${to('search/')}" data-crates="${to('crates/')}">
<p data-status role="status" class="lead"></p>
<ul class="cards" data-list></ul>
<button type="button" class="button" data-more hidden>Show more</button>
</div>
<noscript><p class="notice">Searching this registry takes JavaScript, because it is made of plain files. The <a href="${to(listPath(''))}">list of all crates</a> does without.</p></noscript>`
  return output(searchPath, page(site, '', body, null))
}

/** The search page as a server answers it; it needs no script. */
export function searchPage(site: SiteConfig, results: SearchResults): string {
  const to = linker(site, searchPath)
  const { query, crates, total } = results
  const body = html`<p class="lead" role="status">${query.trim() === '' ? 'Type a name or a few words.' : html`${total === 0 ? 'No crate' : plural(total, 'crate')} for “${query}”`}</p>
${crates.length === 0 ? null : crateList(crates, to)}
${pager({ page: results.page, last: Math.ceil(total / results.perPage) }, number => `?q=${encodeURIComponent(query)}&page=${number}`)}`
  return page(site, query, body, results.viewer ?? null)
}

function page(site: SiteConfig, query: string, body: Markup, viewer: string | null): string {
  const main = html`<div class="wide page"><h1>Search</h1>
${body}
</div>`
  const description = `Search the crates of ${site.title}.`
  return layout(site, {
    path: searchPath,
    title: 'Search',
    description,
    main,
    query,
    canonical: null,
    viewer,
  })
}
