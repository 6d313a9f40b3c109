import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Refusal } from '../../generator/index.ts'
import { contentSecurityPolicy } from '../../site/layout/layout.ts'
import { errorPage } from '../../site/pages/not-found.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { noteRefusal } from './answer.ts'

/** The headers of every page: nobody frames it, nothing foreign runs in it. */
export function pageHeaders(site: SiteConfig): Record<string, string> {
  return {
    'content-security-policy': `${contentSecurityPolicy(site)}; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    // Not `no-referrer`: with that, browsers send `Origin: null` along with our own forms.
    'referrer-policy': 'same-origin',
  }
}

/** The headers of a page that knows who looks at it: nobody keeps it. */
function headers(site: SiteConfig): Record<string, string> {
  return {
    ...pageHeaders(site),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  }
}

/** A page for somebody. */
export function page(
  c: Context,
  site: SiteConfig,
  text: string,
  status: ContentfulStatusCode = 200,
): Response {
  return c.html(text, status, headers(site))
}

/** A page that says why not, to whoever is logged in, if anybody is. */
export function refusedPage(
  c: Context,
  site: SiteConfig,
  refusal: Refusal,
  login: string | null,
): Response {
  const status = noteRefusal(c, refusal)
  const title = status === 404 ? 'Nothing here' : 'Not done'
  return page(c, site, errorPage(site, title, asSentences(refusal), login), status)
}

/** The objections of a refusal as people write them. */
export function asSentences(refusal: Refusal): string {
  return refusal.issues
    .map(one => `${one.message.charAt(0).toUpperCase()}${one.message.slice(1)}.`)
    .join(' ')
}

/** Sends the browser on to a path of ours, with GET. */
export function redirect(c: Context, site: SiteConfig, path: string): Response {
  for (const [name, value] of Object.entries(headers(site))) c.header(name, value)
  return c.redirect(`${new URL(site.base).pathname.replace(/\/$/, '')}${path}`, 303)
}
