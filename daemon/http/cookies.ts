import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import type { Registry } from '../../generator/index.ts'

/** The cookies: the login, the secret that forms without a login are bound to, the known device. */
export type CookieName = 'session' | 'form' | 'device'

/** The value of a cookie; undefined when the browser has none. */
export function readCookie(c: Context, registry: Registry, name: CookieName): string | undefined {
  return getCookie(c, `plimsoll_${name}`, attributes(registry).prefix)
}

/** Sets a cookie; without `seconds`, for the browser session. */
export function writeCookie(
  c: Context,
  registry: Registry,
  name: CookieName,
  value: string,
  seconds?: number,
): void {
  const age = seconds === undefined ? {} : { maxAge: seconds }
  setCookie(c, `plimsoll_${name}`, value, { ...attributes(registry), ...age })
}

/** Takes a cookie back. */
export function dropCookie(c: Context, registry: Registry, name: CookieName): void {
  writeCookie(c, registry, name, '', 0)
}

/** Hidden from scripts; `__Host-`, where it can be, also from siblings (RFC 6265bis §4.1.3). */
function attributes({ urls }: Registry): CookieOptions {
  const { pathname: path, protocol } = new URL(`${urls.base}/`)
  const rest = { path, httpOnly: true, sameSite: 'Strict' } as const
  if (protocol !== 'https:') return rest
  return { ...rest, secure: true, prefix: path === '/' ? 'host' : 'secure' }
}
