import { type Output, output } from '../../core/output.ts'
import { listPath, notFoundPath } from '../../core/paths/pages.ts'
import { linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** What is answered for an address there is nothing at; its links start at the root, as it may be answered at any depth. */
export function notFoundPage(site: SiteConfig): Output {
  return output(
    notFoundPath,
    errorPage(
      site,
      'Nothing here',
      'There is no page at this address. The crate or version may not exist, or its name may be spelled another way.',
    ),
  )
}

/** A page that says what went wrong; for a server, under any address, to whoever is logged in. */
export function errorPage(
  site: SiteConfig,
  title: string,
  text: string,
  viewer: string | null = null,
): string {
  const to = linker(site, null)
  const main = html`<div class="wide page narrow"><h1>${title}</h1>
<p class="lead">${text}</p>
<p><a href="${to('')}">Front page</a> · <a href="${to(listPath(''))}">All crates</a></p></div>`
  return layout(site, { path: null, title, description: text, main, canonical: null, viewer })
}
