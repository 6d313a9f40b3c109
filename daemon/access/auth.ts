import {
  type Change,
  canonicalName,
  type Database,
  first,
  type Name,
  type Queries,
  refuse,
  run,
  timestamp,
} from '../../generator/index.ts'
import { type Account, type AccountRow, accountOf } from '../accounts/accounts.ts'
import type { RecordUse } from '../accounts/last-use.ts'
import { hashSecret } from '../accounts/secret.ts'
import {
  isToken,
  reachOf,
  type Scope,
  type StoredReach,
  type TokenRecord,
} from '../accounts/tokens.ts'

/** Who is calling, and what the token they call with is good for. */
export interface Actor extends Pick<TokenRecord, 'scopes' | 'crates'> {
  readonly user: Account
  readonly tokenId: number
  /** Where the request came from. */
  readonly address?: string
}

/** Cargo sends the token alone; `Bearer` before it is accepted too (RFC 6750 §2.1). */
export function tokenOf(header: string | undefined): string | null {
  const text = header?.trim() ?? ''
  const bare = /^bearer +(.*)$/i.exec(text)?.[1] ?? text
  return bare === '' ? null : bare
}

/** git and its kin send a user and a password, of which the password is the token (RFC 7617 §2). */
export function passwordOf(header: string | undefined): string | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(header?.trim() ?? '')?.[1]
  if (encoded === undefined) return null
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  return pair.includes(':') && password !== '' ? password : null
}

/** Tokens that are good at a time, with their users. */
const GOOD = `FROM tokens JOIN users ON users.id = tokens.user_id
  WHERE revoked_at IS NULL AND locked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`

type TokenRow = AccountRow & StoredReach & { id: number; last_used_at: string | null }

/** The actor of a token; null when it is unknown, revoked or expired, or its user is locked. */
export async function authenticate(
  database: Database,
  token: string,
  now: Date,
  record: RecordUse,
): Promise<Actor | null> {
  if (!isToken(token)) return null
  const sql = `SELECT tokens.id, user_id, login, admin, scopes, crates, last_used_at
    ${GOOD} AND hash = ?`
  const row = await first<TokenRow>(database, sql, timestamp(now), hashSecret(token))
  if (!row) return null
  await record(row.last_used_at, now, at =>
    run(database, 'UPDATE tokens SET last_used_at = ? WHERE id = ?', at, row.id),
  )
  return { user: accountOf(row), tokenId: row.id, ...reachOf(row) }
}

/** Refuses an actor whose token was withdrawn, or who was locked out, while their request arrived. */
export async function requireStillGood(db: Queries, { tokenId }: Actor, now: Date): Promise<void> {
  const sql = `SELECT tokens.id ${GOOD} AND tokens.id = ?`
  if (!(await first(db, sql, timestamp(now), tokenId))) refuse('token_withdrawn')
}

/** Whether the actor's token is good for a scope. */
export function hasScope(actor: Actor, scope: Scope): boolean {
  return actor.scopes === null || actor.scopes.includes(scope)
}

/** Whether the token covers a crate; patterns are names or `prefix*`, compared canonically. */
export function coversCrate(actor: Actor, name: Name): boolean {
  if (actor.crates === null) return true
  const canonical: string = canonicalName(name)
  return actor.crates.some(pattern => {
    const wanted = pattern.toLowerCase().replaceAll('-', '_')
    return wanted.endsWith('*') ? canonical.startsWith(wanted.slice(0, -1)) : canonical === wanted
  })
}

/** The change an actor is about to make. */
export function changeBy(actor: Actor, now: Date): Change {
  const { user, tokenId, address = null } = actor
  return { at: timestamp(now), actor: user.login, user, tokenId, address }
}
