import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Registry } from '../../generator/index.ts'

/** The cookies: the login, the secret that forms without a login are bound to, the known device. */
export type CookieName = 'session' | 'form' | 'device'

/** The value of a cookie; undefined when the browser has none. */
export function readCookie(c: Context, registry: Registry, name: CookieName): string | undefined {
  return getCookie(c, fullName(registry, name))
}

/**
 * Sets a cookie hidden from scripts and other sites; without `seconds`, for the browser session.
 */
export function writeCookie(
  c: Context,
  registry: Registry,
  name: CookieName,
  value: string,
  seconds?: number,
): void {
  const { path, secure } = place(registry)
  const age = seconds === undefined ? {} : { maxAge: seconds }
  setCookie(c, fullName(registry, name), value, {
    path,
    secure,
    httpOnly: true,
    sameSite: 'Strict',
    ...age,
  })
}

/** Takes a cookie back. */
export function dropCookie(c: Context, registry: Registry, name: CookieName): void {
  writeCookie(c, registry, name, '', 0)
}

/** `__Host-` where possible: no sibling host can set such a cookie (RFC 6265bis §4.1.3). */
function fullName(registry: Registry, name: CookieName): string {
  const { path, secure } = place(registry)
  return `${secure ? (path === '/' ? '__Host-' : '__Secure-') : ''}plimsoll_${name}`
}

function place({ urls }: Registry): { readonly path: string; readonly secure: boolean } {
  const { pathname, protocol } = new URL(`${urls.base}/`)
  return { path: pathname, secure: protocol === 'https:' }
}
