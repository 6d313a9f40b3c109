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

/** The caller of an API route, with the limits of the token used. */
export interface Actor extends Pick<TokenRecord, 'scopes' | 'crates'> {
  readonly user: Account
  readonly tokenId: number
  /** The client address of the request. */
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

/** Tokens that are valid at a given time, with their users, who may be locked. */
const VALID = `FROM tokens JOIN users ON users.id = tokens.user_id
  WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`

type TokenRow = AccountRow &
  StoredReach & { id: number; last_used_at: string | null; locked_at: string | null }

/** Why a token is refused: it is unknown, revoked or expired; or it is good, but its user locked. */
export type Rejection = 'token_rejected' | 'account_locked'

/** Returns the actor of a token, or why there is none. */
export async function authenticate(
  database: Database,
  token: string,
  now: Date,
  record: RecordUse,
): Promise<Actor | Rejection> {
  if (!isToken(token)) return 'token_rejected'
  const sql = `SELECT tokens.id, user_id, login, admin, locked_at, scopes, crates, last_used_at
    ${VALID} AND hash = ?`
  const row = await first<TokenRow>(database, sql, timestamp(now), hashSecret(token))
  if (!row) return 'token_rejected'
  if (row.locked_at !== null) return 'account_locked'
  await record(row.last_used_at, now, at =>
    run(database, 'UPDATE tokens SET last_used_at = ? WHERE id = ?', at, row.id),
  )
  return { user: accountOf(row), tokenId: row.id, ...reachOf(row) }
}

/** Returns the user of a token; refuses a revoked token, or a locked user. */
async function requireToken(db: Queries, id: number, now: Date): Promise<Account> {
  const sql = `SELECT user_id, login, admin ${VALID} AND locked_at IS NULL AND tokens.id = ?`
  const row = await first<AccountRow>(db, sql, timestamp(now), id)
  return row ? accountOf(row) : refuse('token_withdrawn')
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
export function changeBy({ user, tokenId, address }: Actor, clock: () => Date): Change {
  const stillMay = (tx: Queries) => requireToken(tx, tokenId, clock())
  return {
    at: timestamp(clock()),
    actor: user.login,
    user,
    tokenId,
    address: address ?? null,
    stillMay,
  }
}
