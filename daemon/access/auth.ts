import { canonicalName, type Name } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import { requireToken, type Scope, type TokenHolder } from '../../generator/accounts/tokens.ts'
import type { Change, StillMay } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'

export interface Actor extends TokenHolder {
  readonly address?: string
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
  return actor.scopes === null || actor.scopes.includes(scope)
}

/** Returns whether the token covers a crate; compares names and `prefix*` in canonical form. */
export function coversCrate(actor: Actor, name: Name): boolean {
  if (actor.crates === null) return true
  const canonical: string = canonicalName(name)
  return actor.crates.some(pattern => {
    const wanted = pattern.toLowerCase().replaceAll('-', '_')
    return wanted.endsWith('*') ? canonical.startsWith(wanted.slice(0, -1)) : canonical === wanted
  })
}

/** Returns a change by an actor, whose token must still be valid when the change is made. */
export function changeBy(
  { user, tokenId, address }: Actor,
  { clock, settings: rules }: Pick<Registry, 'clock' | 'settings'>,
): Change {
  const by = { actor: user.login, user, tokenId, address: address ?? null }
  const stillMay: StillMay = tx => requireToken(tx, tokenId, { now: clock(), rules })
  return { at: timestamp(clock()), who: 'user', ...by, stillMay }
}
