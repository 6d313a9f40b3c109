import type { Context } from 'hono'
import { issue, refuse } from '../../core/error/error.ts'
import { canonicalName, canonicalPattern, type Name, patternsOf } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import {
  IMPLIED_SCOPES,
  type Rejection,
  requireToken,
  type Scope,
  type TokenHolder,
} from '../../generator/accounts/tokens.ts'
import { type Change, ruleActor, type StillMay } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { TrustedHolder } from '../../generator/trust/trusted-tokens.ts'
import { failureBody } from '../http/answer.ts'
import { recordIssues } from '../http/log.ts'

/** A logged-in browser where a script of its pages may ask for what its user does there. */
export interface SessionHolder extends Pick<TokenHolder, 'who' | 'user' | 'scopes' | 'crates'> {
  readonly tokenId: null
  /** What it makes changes with. */
  readonly change: Change
}

export type Actor = (TokenHolder | TrustedHolder | SessionHolder) & { readonly address?: string }

/** Returns what names an actor: a login, or a rule; limits count by it. */
export function nameOf(actor: Actor): string {
  return actor.who === 'user' ? actor.user.login : ruleActor(actor.rules[0] ?? 0)
}

/** Returns what limits count an actor by. */
export function countedAs(actor: Actor): string {
  return actor.who === 'user' ? `user ${actor.user.id}` : nameOf(actor)
}

/** Returns the bare token that Cargo sends; `Bearer` before it is accepted too (RFC 6750 §2.1). */
export function tokenOf(header: string | undefined): string | null {
  const text = header?.trim() ?? ''
  const bare = /^bearer +(.*)$/i.exec(text)?.[1] ?? text
  return bare === '' ? null : bare
}

/** Returns the token that git and similar clients send as a Basic password (RFC 7617 §2). */
export function passwordOf(header: string | undefined): string | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(header?.trim() ?? '')?.[1]
  if (encoded === undefined) return null
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  return pair.includes(':') && password !== '' ? password : null
}

/** Returns whether the actor's token has a scope. */
export function hasScope(actor: Actor, scope: Scope): boolean {
  return (actor.scopes ?? IMPLIED_SCOPES).includes(scope)
}

/** Returns whether the token covers a crate; compares names and `prefix*` in canonical form. */
export function coversCrate(actor: Actor, name: Name): boolean {
  if (actor.crates === null) return true
  const fitting = patternsOf(canonicalName(name))
  return actor.crates.some(pattern => fitting.includes(canonicalPattern(pattern) ?? ''))
}

/** Returns a change by a user, whose token or session must still be good when it is made. */
export function changeBy(
  actor: Actor,
  { clock, settings: rules }: Pick<Registry, 'clock' | 'settings'>,
): Change {
  if (actor.who !== 'user') return refuse('trusted_token_only')
  if (actor.tokenId === null) return actor.change
  const { user, tokenId, address } = actor
  const by = { actor: user.login, user, tokenId, address: address ?? null }
  const stillMay: StillMay = tx => requireToken(tx, tokenId, { now: clock(), rules })
  return { at: timestamp(clock()), who: 'user', ...by, stillMay }
}

/**
 * Returns a 401 whose challenge makes Cargo send its token or ask for one (Cargo RFC 3231,
 * `login_url`). git supports only `Basic`, and libgit2 only if it comes first; on other routes
 * `Basic` would make browsers ask for a password.
 */
export function challenge(
  c: Context,
  { site, urls }: Pick<Registry, 'site' | 'urls'>,
  { code, at }: Rejection | { readonly code: 'token_absent'; readonly at: string },
): Response {
  const me = `${urls.base}/me`
  const basic = c.req.path.startsWith('/index.git/') ? `Basic realm="${site.registry}", ` : ''
  const issues = [issue(code, { me, at })]
  recordIssues(c, issues)
  const headers = {
    'www-authenticate': `${basic}Cargo login_url="${me}"`,
    'cache-control': 'no-store',
  }
  return c.json(failureBody(issues), 401, headers)
}
