import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import type { Registry } from '../../generator/registry/registry.ts'

/**
 * The cookies: the session, the secret of forms without a session, the known device, the login that
 * was begun at an issuer, whether the browser was sent there by itself, the outcome of a form, and
 * the username. Scripts can read and show the username only; nothing trusts it.
 */
export type CookieName = 'session' | 'form' | 'device' | 'oidc' | 'visit' | 'notice' | 'user'

/** Returns the value of a cookie, or undefined if the request has none. */
export function readCookie(c: Context, registry: Registry, name: CookieName): string | undefined {
  return getCookie(c, `plimsoll_${name}`, attributes(registry).prefix)
}

/** Sets a cookie; without `seconds`, until the browser closes. */
export function writeCookie(
  c: Context,
  registry: Registry,
  name: CookieName,
  value: string,
  seconds?: number,
): void {
  const age = seconds === undefined ? {} : { maxAge: seconds }
  setCookie(c, `plimsoll_${name}`, value, {
    ...attributes(registry),
    httpOnly: name !== 'user',
    ...age,
  })
}

/** Deletes a cookie. */
export function dropCookie(c: Context, registry: Registry, name: CookieName): void {
  writeCookie(c, registry, name, '', 0)
}

/** Hides cookies from other sites and, by `__Host-`, from sibling domains (RFC 6265bis §4.1.3). */
function attributes({ urls }: Registry): CookieOptions {
  const { pathname: path, protocol } = new URL(`${urls.base}/`)
  const rest = { path, sameSite: 'Strict' } as const
  if (protocol !== 'https:') return rest
  return { ...rest, secure: true, prefix: path === '/' ? 'host' : 'secure' }
}
