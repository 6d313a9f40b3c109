// site/layout: The frame of every page, with its assets. All pages call it; it never knows what is
// in the frame.
import { apiPagePath, statisticsPath } from '../../core/paths/listings.ts'
import { searchPath } from '../../core/paths/search.ts'
import { frontPath, listPath, openSearchPath, updatesPath } from '../../core/paths/tree.ts'
import { isolated } from '../../core/text.ts'
import { icon } from '../elements/elements.ts'
import { absoluteLink, account, type Linker, linker, ownLink } from '../elements/links.ts'
import { type Child, html, type Markup, raw } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { assetPath } from './assets.ts'

export interface LayoutData {
  /** Path of the page; null for a page that is served at any path. */
  readonly path: string | null
  readonly title: string
  /** Description for search engines; the title by default. */
  readonly description?: string | null
  readonly main: Child
  /** Path that search engines should use instead; null keeps the page out of search engines. */
  readonly canonical?: string | null
  readonly feed?: string
  /** False leaves out the search box, for users who may not search. */
  readonly search?: boolean
  readonly query?: string
  /** The part of the site with a stylesheet and a script of its own. */
  readonly part?: 'sources'
  readonly viewer?: string | null
  /** Whether its address is a secret that other servers must not find in a `Referer` and log. */
  readonly secret?: boolean
}

/** Renders the HTML of a page. */
export function layout(site: SiteConfig, page: LayoutData): string {
  const to = linker(site, page.path)
  return html`<!doctype html>
<html lang="en">
<head>
${head(site, page, to)}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${header(site, page, to)}
<main id="main">
${page.main}
</main>
${footer(site, to)}
</body>
</html>
`.toString()
}

function head(site: SiteConfig, page: LayoutData, to: Linker): Markup {
  const canonical = page.canonical === undefined ? page.path : page.canonical
  const description = isolated(page.description ?? `${page.title} on ${site.title}.`)
  const address = canonical === null ? null : absoluteLink(site, canonical)
  const title = page.title === site.title ? site.title : `${page.title} · ${site.title}`
  return html`<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${raw(contentSecurityPolicy(site))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="${page.secret ? 'strict-origin' : 'same-origin'}">
<title>${title}</title>
<meta name="description" content="${description}">
${canonical === null || site.private ? html`<meta name="robots" content="noindex">` : null}
${address === null ? null : html`<link rel="canonical" href="${address}">\n<meta property="og:url" content="${address}">`}
<meta property="og:site_name" content="${site.title}">
<meta property="og:title" content="${page.title}">
<meta property="og:description" content="${description}">
<meta property="og:image" content="${absoluteLink(site, assetPath('preview.png'))}">
<meta name="twitter:card" content="summary_large_image">
<link rel="icon" type="image/svg+xml" href="${to(assetPath('mark.svg'))}">
<link rel="stylesheet" href="${to(assetPath('style.css'))}">
<link rel="stylesheet" href="${to(assetPath('code.css'))}">
${site.stylesheet === null ? null : html`<link rel="stylesheet" href="${ownLink(to, site.stylesheet)}">`}
${site.feeds ? html`<link rel="alternate" type="application/atom+xml" title="${page.title}" href="${to(page.feed ?? updatesPath)}">` : null}
<link rel="search" type="application/opensearchdescription+xml" title="${site.title}" href="${to(openSearchPath)}">
${page.part && html`<link rel="stylesheet" href="${to(assetPath(`${page.part}.css`))}">\n`}<script type="module" src="${to(assetPath('browser/page.js'))}"></script>${page.part && html`\n<script type="module" src="${to(assetPath(`browser/${page.part}/page.js`))}"></script>`}`
}

function header(site: SiteConfig, page: LayoutData, to: Linker): Markup {
  const logo = site.logo === null ? to(assetPath('mark.svg')) : ownLink(to, site.logo)
  return html`<header class="top">
<div class="wide bar">
<a class="brand" href="${to(frontPath)}"><img src="${logo}" alt="" width="28" height="28"><span>${site.title}</span></a>
<nav aria-label="Site">
<a href="${to(listPath(''))}">Crates</a>
${site.links.map(link => html`<a href="${ownLink(to, link.url)}">${link.text}</a>`)}
${site.api ? html`<a href="${to(account.home)}" data-user>${page.viewer ?? 'Account'}</a>` : null}
</nav>
${page.path === frontPath || page.search === false ? null : searchForm(to, page.query ?? '')}
</div>
</header>`
}

/** Renders the search box: a plain form to which a script adds suggestions. */
export function searchForm(to: Linker, query: string): Markup {
  return html`<form id="search" class="search" role="search" action="${to(searchPath)}" method="get" data-search="${to('search/')}" data-crates="${to('crates/')}">
${icon('search')}
<input type="search" name="q" value="${query}" placeholder="Search crates" aria-label="Search crates" autocomplete="off" autocapitalize="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
</form>`
}

function footer(site: SiteConfig, to: Linker): Markup {
  return html`<footer class="bottom">
<div class="wide bar">
<p>${site.footer ?? site.description}</p>
<nav aria-label="More">
${site.feeds ? html`<a href="${to(updatesPath)}">Feed</a>` : null}
<a href="${to(statisticsPath)}">Statistics</a>
<a href="${to(apiPagePath)}">${site.api ? 'API' : 'Files'}</a>
</nav>
</div>
</footer>`
}

/**
 * Returns the Content-Security-Policy: a page loads only files of this site, and packages from
 * where they are. It is in a `<meta>` because some hosts send no headers. Servers add
 * `frame-ancestors`, which works only in a header.
 */
export function contentSecurityPolicy({
  images,
  packages,
}: Pick<SiteConfig, 'images' | 'packages'>): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // A script shows the images of packages, which are bytes in its memory.
    images === 'load' ? "img-src 'self' blob: https:" : "img-src 'self' blob:",
    ["connect-src 'self'", ...packages].join(' '),
    "form-action 'self'",
    "base-uri 'none'",
  ].join('; ')
}
