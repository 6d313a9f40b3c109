import { type Output, output } from '../../core/output.ts'
import { noJekyllPath, openSearchPath, robotsPath, sitemapPath } from '../../core/paths/pages.ts'
import { searchPath } from '../../core/paths/search.ts'
import { absoluteLink } from '../elements/links.ts'
import { html, raw } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'

/** `robots.txt`: search engines leave out accounts, search results and sources. */
export function robots(site: SiteConfig): Output {
  const path = new URL(`${site.base}/`).pathname
  const rules = site.private
    ? ['Disallow: /']
    : [`Disallow: ${path}me`, `Disallow: ${path}search/`, `Disallow: ${path}crates/*/*/src/`]
  const map = site.private ? [] : [`Sitemap: ${absoluteLink(site, sitemapPath)}`]
  return output(robotsPath, `${['User-agent: *', ...rules, ...map].join('\n')}\n`)
}

/** `.nojekyll`, empty: it keeps GitHub Pages from leaving out pages whose name begins with `_`. */
export const noJekyll: Output = output(noJekyllPath, '')

/** `opensearch.xml`: browsers offer the search of the registry as one of theirs. */
export function openSearch(site: SiteConfig): Output {
  return output(
    openSearchPath,
    html`${raw('<?xml version="1.0" encoding="utf-8"?>')}
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${site.title.slice(0, 16)}</ShortName>
<Description>${site.description.slice(0, 1024)}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Url type="text/html" template="${absoluteLink(site, searchPath)}?q={searchTerms}"/>
</OpenSearchDescription>
`,
  )
}
