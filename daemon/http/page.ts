import type { Context } from 'hono'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Refusal } from '../../core/error/error.ts'
import { contentSecurityPolicy } from '../../site/layout/layout.ts'
import { errorPage } from '../../site/pages/not-found.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { recordRefusal } from './answer.ts'

/** Returns the headers of every page: they forbid framing and scripts of other origins. */
export function pageHeaders(site: SiteConfig): Record<string, string> {
  return {
    'content-security-policy': `${contentSecurityPolicy(site)}; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    // Not `no-referrer`: with that, browsers send `Origin: null` even with this site's forms.
    'referrer-policy': 'same-origin',
  }
}

function headers(site: SiteConfig): Record<string, string> {
  return {
    ...pageHeaders(site),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  }
}

/** Answers with a personal page. */
export function page(
  c: Context,
  site: SiteConfig,
  text: string,
  status: ContentfulStatusCode = 200,
): Response {
  return c.html(text, status, headers(site))
}

/** Answers with a page that shows a refusal; `login` is the logged-in user, if any. */
export function refusedPage(
  c: Context,
  site: SiteConfig,
  refusal: Refusal,
  login: string | null,
): Response {
  const status = recordRefusal(c, refusal)
  const title = status === 404 ? 'Nothing here' : 'Request refused'
  return page(c, site, errorPage(site, title, asSentences(refusal), login), status)
}

/** Returns the issues of a refusal as sentences. */
export function asSentences(refusal: Refusal): string {
  return refusal.issues
    .map(issue => `${issue.message.charAt(0).toUpperCase()}${issue.message.slice(1)}.`)
    .join(' ')
}

/** Redirects the browser to a path of this registry, with GET. */
export function redirect(c: Context, site: SiteConfig, path: string): Response {
  return leave(c, site, `${basePath(site)}${path}`)
}

/** Sends the browser to another site, with GET. */
export function leave(c: Context, site: SiteConfig, url: string): Response {
  for (const [name, value] of Object.entries(headers(site))) c.header(name, value)
  return c.redirect(url, 303)
}

/** Redirects every client to a path of this registry; caches have to ask again. */
export function leadTo(c: Context, site: SiteConfig, path: string, status: 301 | 302): Response {
  c.header('cache-control', 'no-cache')
  return c.redirect(`${basePath(site)}${path}`, status)
}

/** Reloads the page, now with cookies, so that a logged-in user gets the page of their session. */
export function reloadPage(c: Context, site: SiteConfig, more = ''): Response {
  const here = `${basePath(site)}${c.req.path}${new URL(c.req.url).search}${more}`
  const text = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${here}"><title>${site.title}</title></head><body><a href="${here}">Continue</a></body></html>`
  return page(c, site, String(text))
}

/** Returns the path of the base URL, without a final slash. */
export function basePath({ base }: Pick<SiteConfig, 'base'>): string {
  return new URL(base).pathname.replace(/\/$/, '')
}

/** Returns whether a browser asks for a page, as opposed to a program asking for data. */
export function wantsPage(c: Context): boolean {
  if (c.req.method !== 'GET' || !/\btext\/html\b/i.test(c.req.header('accept') ?? '')) return false
  return !/^\/(?:api|index|index\.git)\/|\.crate$/.test(c.req.path)
}
