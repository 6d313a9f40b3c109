import { cratePath } from '../../core/paths/crates.ts'
import {
  apiPagePath,
  categoriesPath,
  keywordsPath,
  statisticsPath,
} from '../../core/paths/listings.ts'
import { searchPath } from '../../core/paths/search.ts'
import {
  frontPath,
  listPath,
  type Output,
  openSearchPath,
  output,
  robotsPath,
  sitemapPartPath,
  sitemapPath,
} from '../../core/paths/tree.ts'
import type { CrateItem } from '../crate-data.ts'
import { absoluteLink } from '../elements/links.ts'
import { html, raw } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'

/** The pages of no crate that search engines begin at. */
const SITE_PAGES = [
  frontPath,
  listPath(''),
  categoriesPath,
  keywordsPath,
  statisticsPath,
  apiPagePath,
]

const XML = raw('<?xml version="1.0" encoding="utf-8"?>')
const XMLNS = 'http://www.sitemaps.org/schemas/sitemap/0.9'

/** Renders `robots.txt`, which keeps crawlers out of accounts, search results and sources. */
export function robots(site: SiteConfig): Output {
  const path = new URL(`${site.base}/`).pathname
  const rules = site.private
    ? ['Disallow: /']
    : [`Disallow: ${path}me`, `Disallow: ${path}search/`, `Disallow: ${path}crates/*/*/src/`]
  const map = site.private ? [] : [`Sitemap: ${absoluteLink(site, sitemapPath)}`]
  return output(robotsPath, `${['User-agent: *', ...rules, ...map].join('\n')}\n`)
}

/** Renders `opensearch.xml`, by which browsers can add the registry as a search engine. */
export function openSearch(site: SiteConfig): Output {
  return output(
    openSearchPath,
    html`${XML}
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${site.title.slice(0, 16)}</ShortName>
<Description>${site.description.slice(0, 1024)}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Url type="text/html" template="${absoluteLink(site, searchPath)}?q={searchTerms}"/>
</OpenSearchDescription>
`,
  )
}

type DatedCrate = Pick<CrateItem, 'name' | 'updatedAt'>

/** Renders `sitemap.xml`, which names all parts, and the part with the pages of no crate. */
export function sitemapIndex(site: SiteConfig, parts: readonly number[]): Output[] {
  const paths = (['pages', ...parts] as const).map(sitemapPartPath)
  const lines = paths.map(path => html`<sitemap><loc>${absoluteLink(site, path)}</loc></sitemap>\n`)
  const pages = SITE_PAGES.map(path => ({ path, changed: null }))
  return [
    urlset(site, 'pages', pages),
    output(sitemapPath, html`${XML}\n<sitemapindex xmlns="${XMLNS}">\n${lines}</sitemapindex>\n`),
  ]
}

/** Renders a part with crates. No part has pages of versions: the pages of crates link to them. */
export function sitemapPart(site: SiteConfig, part: number, crates: readonly DatedCrate[]): Output {
  const pages = crates.map(crate => ({ path: cratePath(crate.name), changed: crate.updatedAt }))
  return urlset(site, part, pages)
}

function urlset(
  site: SiteConfig,
  part: number | 'pages',
  pages: readonly { readonly path: string; readonly changed: string | null }[],
): Output {
  const urls = pages.map(
    ({ path, changed }) =>
      html`<url><loc>${absoluteLink(site, path)}</loc>${changed === null ? null : html`<lastmod>${changed}</lastmod>`}</url>\n`,
  )
  return output(sitemapPartPath(part), html`${XML}\n<urlset xmlns="${XMLNS}">\n${urls}</urlset>\n`)
}
