import type { Context } from 'hono'
import { refuse } from '../../generator/index.ts'
import { readWhole } from './request-body.ts'

const HERE = 'http://here.invalid'

/** More than any form of ours can hold. */
const MOST_BYTES = 64 * 1024

/** The fields of a posted form. Refuses another content type, and a body that is too long. */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const type = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') refuse('form_invalid')
  const body = (await readWhole(c.req.raw, MOST_BYTES)) ?? refuse('form_invalid')
  return new URLSearchParams(body.toString('utf8'))
}

/** Whom a login form names; blanks around a login are a slip. */
export function loginOf(form: URLSearchParams): string {
  return form.get('login')?.trim() ?? ''
}

/**
 * Whether a browser sent a request from a page of this host: by `Sec-Fetch-Site`, or over plain
 * http by `Origin`. Clients that send neither are checked by the token of the form.
 */
export function isFromHere(c: Context, base: string): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = c.req.header('origin')
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return origin === new URL(base).origin || host === c.req.header('host')
}

/**
 * The path on this server to redirect to; null if it leads elsewhere. Read as browsers do: `\` is
 * `/`, tabs and line ends do not count, `/.//host` becomes `//host`.
 */
export function ownPath(text: string | null | undefined): string | null {
  if (!text?.startsWith('/') || text.length > 2000 || !URL.canParse(text, HERE)) return null
  const url = new URL(text, HERE)
  return url.origin === HERE && !url.pathname.startsWith('//') ? url.pathname + url.search : null
}
