import type { Context } from 'hono'
import { refuse } from '../../generator/index.ts'
import { readWhole } from './request-body.ts'

/** More than any form of ours can hold. */
const MOST_BYTES = 64 * 1024

/**
 * The fields of a posted form (`application/x-www-form-urlencoded`). Refuses what is none, or too
 * long.
 */
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
 * Whether a browser says that a request comes from a page of this very host: by `Sec-Fetch-Site`,
 * or where that is not sent (plain http) by `Origin`. Programs that send neither are told apart by
 * the field that every form carries.
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
