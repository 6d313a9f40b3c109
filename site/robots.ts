import { absoluteLink, cratePath, frontPath, listPath, openSearchPath, searchPath } from './address.ts'
import { html, type Markup, raw } from './markup.ts'
import { tiers } from './search/tiers.ts'
import { canonical } from './search/words.ts'
import type { SiteFacts } from './site-facts.ts'
import type { SiteFile } from './site-file.ts'
import { siteFile } from './site-file.ts'

/** Crates in one part of the site map; the protocol takes 50,000. */
const SITEMAP_MAX = 10_000

const XML = raw('<?xml version="1.0" encoding="utf-8"?>')
const XMLNS = 'http://www.sitemaps.org/schemas/sitemap/0.9'

/** `robots.txt`: what search engines may read. Version pages and sources are left to people. */
export function robots(site: SiteFacts): SiteFile {
  const path = new URL(`${site.base}/`).pathname
  const rules = site.private
    ? ['Disallow: /']
    : [`Disallow: ${path}me`, `Disallow: ${path}search/`, `Disallow: ${path}crates/*/*/src/`]
  // The map is made where all crates are at hand at once, as the search is.
  const map = site.private || !site.search ? [] : [`Sitemap: ${absoluteLink(site, 'sitemap.xml')}`]
  return siteFile('robots.txt', 'text', `${['User-agent: *', ...rules, ...map].join('\n')}\n`)
}

/** The site map: an index, and parts by the first letters of the names. */
export function sitemaps(site: SiteFacts, crates: Iterable<{ name: string; updated: string | null }>): SiteFile[] {
  const sorted = [...crates]
    .map(crate => ({ key: canonical(crate.name), crate }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const files: SiteFile[] = []
  for (const tier of tiers(
    sorted.map(one => one.key),
    SITEMAP_MAX,
  )) {
    const some = sorted.slice(tier.from, tier.from + (tier.next.length === 0 ? tier.total : tier.own))
    const extra = tier.prefix === '' ? [frontPath, listPath('')].map(path => url(absoluteLink(site, path), null)) : []
    const urls = some.map(({ crate }) => url(absoluteLink(site, cratePath(crate.name)), crate.updated))
    if (extra.length + urls.length === 0) continue
    const body = html`${XML}\n<urlset xmlns="${XMLNS}">\n${[...extra, ...urls]}</urlset>\n`
    files.push(siteFile(`sitemap${tier.prefix === '' ? '-all' : `-${tier.prefix}`}.xml`, 'xml', body))
  }
  const parts = files.map(file => html`<sitemap><loc>${absoluteLink(site, file.path)}</loc></sitemap>\n`)
  const index = html`${XML}\n<sitemapindex xmlns="${XMLNS}">\n${parts}</sitemapindex>\n`
  return [siteFile('sitemap.xml', 'xml', index), ...files]
}

function url(location: string, changed: string | null): Markup {
  return html`<url><loc>${location}</loc>${changed === null ? null : html`<lastmod>${changed}</lastmod>`}</url>\n`
}

/** `opensearch.xml`: makes the search one of the browser's. */
export function openSearch(site: SiteFacts): SiteFile {
  return siteFile(
    openSearchPath,
    'opensearch',
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
