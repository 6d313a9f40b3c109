import { cratePath } from '../../core/paths/crates.ts'
import { listPath, notFoundPath, type Output, output } from '../../core/paths/tree.ts'
import { messageText } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout, searchForm } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

const MISSING =
  'There is no page at this address. The crate or version may not exist, or its name may be spelled differently.'

/** Renders the 404 page; static hosts serve it at any depth, and a script offers crates. */
export function notFoundPage(site: SiteConfig): Output {
  const to = linker(site, null)
  // A region that is there before it has text is read out when a script fills it.
  const offer = html`<div role="status" data-missing data-crates="${to('crates/')}" data-search="${to('search/')}"></div>`
  return output(notFoundPath, missing(site, to, offer))
}

/** Renders the answer to a request for a page that a crate does not have. */
export function missingOfCrate(site: SiteConfig, name: string): string {
  const to = linker(site, null)
  const offer = html`<p>The crate exists: <a href="${to(cratePath(name))}"><strong>${name}</strong></a></p>`
  return missing(site, to, offer)
}

function missing(site: SiteConfig, to: Linker, offer: Markup): string {
  const title = 'Nothing here'
  const main = html`<div class="wide page narrow"><h1>${title}</h1>
<p class="lead">${MISSING}</p>
${offer}
${searchForm(to, '')}
${ways(to)}</div>`
  return layout(site, { path: null, title, description: MISSING, main, search: false })
}

/** Renders an error page, which is served at any path; `viewer` is the logged-in user. */
export function errorPage(
  site: SiteConfig,
  title: string,
  text: string,
  viewer: string | null = null,
): string {
  const to = linker(site, null)
  const main = html`<div class="wide page narrow"><h1>${title}</h1>
<p class="lead">${messageText(text)}</p>
${ways(to)}</div>`
  return layout(site, { path: null, title, description: text, main, viewer })
}

function ways(to: Linker): Markup {
  return html`<p><a href="${to('')}">Home</a> · <a href="${to(listPath(''))}">All crates</a></p>`
}
