import { listPath, notFoundPath, type Output, output } from '../../core/paths/tree.ts'
import { messageText } from '../elements/elements.ts'
import { linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** Renders the 404 page; static hosts serve it at any depth. */
export function notFoundPage(site: SiteConfig): Output {
  const text =
    'There is no page at this address. The crate or version may not exist, or its name may be spelled differently.'
  return output(notFoundPath, errorPage(site, 'Nothing here', text))
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
<p><a href="${to('')}">Home</a> · <a href="${to(listPath(''))}">All crates</a></p></div>`
  return layout(site, { path: null, title, description: text, main, viewer })
}
