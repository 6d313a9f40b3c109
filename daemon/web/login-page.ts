import type { Context } from 'hono'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Notice } from '../../site/account/frame.ts'
import { loginPage } from '../../site/account/login-page.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import type { BrowserRequest } from '../access/browser-request.ts'
import { page } from '../http/page.ts'

/** The login form, or, with `reset`, the form that a one-time link leads to. */
export function showLogin(
  c: Context,
  site: SiteConfig,
  { csrf }: BrowserRequest,
  facts: {
    login?: string
    next?: string | null
    notice?: Notice
    reset?: string
    status?: ContentfulStatusCode
  },
): Response {
  const { login = '', next = null, notice = null, reset = null } = facts
  return page(c, site, loginPage(site, { csrf, login, next, notice, reset }), facts.status)
}

/** Whether a link of another site led here: then browsers send no `SameSite=Strict` cookie. */
export function isFromElsewhere(c: Context): boolean {
  return ['cross-site', 'same-site'].includes(c.req.header('sec-fetch-site') ?? '')
}

/** Makes the browser ask again with its cookies, so that a logged-in user sees no login form. */
export function reloadPage(c: Context, site: SiteConfig): Response {
  const prefix = new URL(site.base).pathname.replace(/\/$/, '')
  const here = `${prefix}${c.req.path}${new URL(c.req.url).search}`
  const text = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${here}"><title>${site.title}</title></head><body><a href="${here}">Continue</a></body></html>`
  return page(c, site, String(text))
}
