import { randomInt } from 'node:crypto'
import { issue, refuse, refuseErrors } from '../../core/error/error.ts'
import { canonicalPattern } from '../../core/name.ts'
import { sha256Bytes } from '../../core/sha256.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, first, one, type Queries, run, value } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted, userIdOf } from '../records/change.ts'
import { type PublishedWith, publishedWith } from '../records/releases-stored.ts'
import { type AccessTime, type Account, type AccountRow, accountOf, loggedIn } from './accounts.ts'
import { hashSecret, type RecordUse } from './secret.ts'

/** The rights of a token: the endpoint scopes of crates.io, plus `read` for private registries. */
export const SCOPES = [
  'publish-new',
  'publish-update',
  'yank',
  'change-owners',
  'read',
  'trusted-publishing',
] as const
export type Scope = (typeof SCOPES)[number]

/** What a token may do that names no scopes: it never lets a machine publish. */
export const IMPLIED_SCOPES = SCOPES.filter(scope => scope !== 'trusted-publishing')

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** One line without bidirectional control characters: administrators read these names, too. */
const NAME = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u
const FORM = /^(plim_(?:tp_)?)([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

/** The beginning of the tokens of users, and of those that jobs of CI get for theirs. */
export type TokenPrefix = 'plim_' | 'plim_tp_'

/** Returns a new token: its prefix, 32 random base62 characters (190 bits), 6 of checksum. */
export function makeToken(prefix: TokenPrefix = 'plim_'): string {
  const secret = Array.from({ length: 32 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${prefix}${secret}${checksum(secret)}`
}

/** Returns whether a text has the form and checksum of a token; the token may be unknown. */
export function isToken(text: string, prefix: TokenPrefix = 'plim_'): boolean {
  const [, begin, secret = '', sum = ''] = FORM.exec(text) ?? []
  return begin === prefix && checksum(secret) === sum
}

function checksum(secret: string): string {
  let number = sha256Bytes(secret).readUIntBE(0, 6)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text += ALPHABET[number % 62]
    number = Math.floor(number / 62)
  }
  return text
}

/** A token as its owner sees it; the token itself is known only at its creation. */
export interface TokenRecord {
  readonly id: number
  readonly name: string
  readonly user: string
  /** Null allows everything that its user may do. */
  readonly scopes: readonly Scope[] | null
  /** Crate names, or prefixes followed by `*`; null allows every crate. */
  readonly crates: readonly string[] | null
  readonly created: string
  readonly expires: string | null
  readonly last_used: string | null
}

export interface NewToken extends TokenRecord {
  readonly token: string
}

export interface TokenOrder extends Pick<TokenRecord, 'name' | 'scopes' | 'crates' | 'expires'> {
  readonly userId: number
  /** The maximum number of valid tokens of the user, including this one; default: no limit. */
  readonly most?: number
}

/** Creates a token; only this returns its text. Refuses more than `most`; crates with `read`. */
export async function createToken(
  database: Database,
  { userId, name, scopes, crates, expires, most }: TokenOrder,
  change: Change,
): Promise<NewToken> {
  const patterns = (crates ?? []).filter(pattern => canonicalPattern(pattern) === null)
  refuseErrors([
    ...(NAME.test(name) ? [] : [issue('token_name_invalid')]),
    ...patterns.map(pattern => issue('crate_pattern_invalid', { pattern })),
    ...(crates && scopes?.includes('read') ? [issue('token_read_limited')] : []),
  ])
  const token = makeToken()
  const stored = {
    scopes: scopes && JSON.stringify(scopes),
    crates: crates && JSON.stringify(crates),
  }
  return makeChange(database, change, { user: userId }, async (tx, by) => {
    const { at } = by
    const good = `SELECT count(*) FROM tokens
      WHERE user_id = ? AND revoked_at IS NULL AND ${UNEXPIRED}`
    const times = [at, latest(new Date(at))]
    if (most !== undefined && Number(await value(tx, good, userId, ...times)) >= most)
      refuse('tokens_too_many', { max: most })
    const sql = `INSERT INTO tokens (user_id, name, hash, scopes, crates, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      RETURNING id, (SELECT login FROM users WHERE id = user_id) AS login`
    const parameters = [userId, name, hashSecret(token), stored.scopes, stored.crates, at, expires]
    const { id, login } = await one<{ id: number; login: string }>(tx, sql, ...parameters)
    const detail = { token: id, login, name, scopes, crates, expires }
    await addEvent(tx, by, { action: 'token-create', detail })
    const reach = reachOf(stored)
    return { id, name, user: login, ...reach, created: at, expires, last_used: null, token }
  })
}

/** The scopes and crates of a token as stored: JSON, or null. */
export interface StoredReach {
  readonly scopes: string | null
  readonly crates: string | null
}

/**
 * Returns the parsed scopes and crates of a stored token. Reading is not limited by crate, so a
 * token for certain crates never has `read`, not even one that was made with it.
 */
export function reachOf(stored: StoredReach): Pick<TokenRecord, 'scopes' | 'crates'> {
  const scopes = stored.scopes ? (JSON.parse(stored.scopes) as Scope[]) : null
  if (!stored.crates) return { scopes, crates: null }
  const crates = JSON.parse(stored.crates) as string[]
  return { scopes: (scopes ?? IMPLIED_SCOPES).filter(scope => scope !== 'read'), crates }
}

/** Lists the tokens of one user, or of all users, that are not revoked, oldest first. */
export async function listTokens(database: Database, userId?: number): Promise<TokenRecord[]> {
  const sql = `SELECT tokens.id, tokens.name, login AS "user", scopes, crates,
      tokens.created_at AS created, expires_at AS expires, last_used_at AS last_used
    FROM tokens JOIN users ON users.id = user_id
    WHERE revoked_at IS NULL ${userId === undefined ? '' : 'AND user_id = ?'} ORDER BY tokens.id`
  type Row = Omit<TokenRecord, keyof StoredReach> & StoredReach
  const rows = await all<Row>(database, sql, ...(userId === undefined ? [] : [userId]))
  return rows.map(row => ({ ...row, ...reachOf(row) }))
}

/** Revokes a token of `userId`; returns its old state. Refuses unknown and revoked tokens. */
export async function revokeToken(
  database: Database,
  id: number,
  change: Change,
): Promise<Pick<TokenRecord, 'id' | 'name' | 'user'>> {
  return makeChange(database, change, 'user', async (tx, by) => {
    const isAny = Number(by.who === 'operator')
    const sql = `UPDATE tokens SET revoked_at = ?
      WHERE id = ? AND revoked_at IS NULL AND (CAST(? AS INTEGER) = 1 OR user_id = ?)
      RETURNING (SELECT login FROM users WHERE id = user_id) AS login, name`
    const whose = [by.at, id, isAny, userIdOf(by)]
    const token = await first<{ login: string; name: string }>(tx, sql, ...whose)
    if (!token) return refuse('token_unknown', { id })
    await addEvent(tx, by, { action: 'token-revoke', detail: { token: id, ...token } })
    return { id, name: token.name, user: token.login }
  })
}

/** Revokes all tokens of a user, in a transaction that notes it; returns how many there were. */
export function revokeAll(tx: Queries, userId: number, { at }: Permitted): Promise<number> {
  const sql = 'UPDATE tokens SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL'
  return run(tx, sql, at, userId)
}

/** Returns the scopes in the order of `SCOPES`, each once; one refusal lists all unknown ones. */
export function parseScopes(texts: readonly string[]): Scope[] {
  const accepted: readonly string[] = SCOPES
  const unknown = texts.filter(text => !accepted.includes(text))
  refuseErrors(unknown.map(scope => issue('scope_invalid', { scope, accepted: SCOPES.join(', ') })))
  return SCOPES.filter(scope => texts.includes(scope))
}

/** Tokens that have not expired, and that no wrong clock made. */
const UNEXPIRED = '(expires_at IS NULL OR (expires_at > ? AND tokens.created_at <= ?))'

/** Tokens that are valid at a given time, with their users, who may be locked. */
const VALID = `FROM tokens JOIN users ON users.id = tokens.user_id
  WHERE revoked_at IS NULL AND ${UNEXPIRED}`

type TokenRow = AccountRow &
  StoredReach & {
    id: number
    member: number
    last_used_at: string | null
    locked_at: string | null
  }

/**
 * A token is unknown or revoked, or has expired `at` some time; or its user is locked, or has to
 * log in at an issuer.
 */
export interface Rejection {
  readonly code:
    | 'token_rejected'
    | 'token_expired'
    | 'account_locked'
    | 'login_due'
    | 'trusted_token_rejected'
  readonly at: string
}

export interface TokenHolder extends Pick<TokenRecord, 'scopes' | 'crates'> {
  readonly who: 'user'
  readonly user: Account
  readonly tokenId: number
}

/** Returns the user of a token, or why there is none. */
export async function authenticate(
  database: Database,
  token: string,
  time: AccessTime,
  record: RecordUse,
): Promise<TokenHolder | Rejection> {
  if (!isToken(token)) return { code: 'token_rejected', at: '' }
  const { now } = time
  const member = loggedIn(time)
  const sql = `SELECT tokens.id, user_id, login, admin, locked_at, scopes, crates, last_used_at,
      CASE WHEN ${member.sql} THEN 1 ELSE 0 END AS member ${VALID} AND hash = ?`
  const parameters = [...member.values, timestamp(now), latest(now), hashSecret(token)]
  const row = await first<TokenRow>(database, sql, ...parameters)
  if (!row) {
    const ended = `SELECT expires_at FROM tokens
      WHERE hash = ? AND revoked_at IS NULL AND expires_at <= ?`
    const at = await value<string>(database, ended, hashSecret(token), timestamp(now))
    return { code: at === null ? 'token_rejected' : 'token_expired', at: at ?? '' }
  }
  if (row.locked_at !== null) return { code: 'account_locked', at: '' }
  if (row.member === 0) return { code: 'login_due', at: '' }
  await record(row.last_used_at, now, at =>
    run(database, 'UPDATE tokens SET last_used_at = ? WHERE id = ?', at, row.id),
  )
  return { who: 'user', user: accountOf(row), tokenId: row.id, ...reachOf(row) }
}

/** Returns the user of a token; refuses a revoked one, or a user who is locked or has to log in. */
export async function requireToken(db: Queries, id: number, time: AccessTime): Promise<Account> {
  const { now } = time
  const member = loggedIn(time)
  const sql = `SELECT user_id, login, admin ${VALID} AND locked_at IS NULL AND tokens.id = ?
    AND ${member.sql}`
  const row = await first<AccountRow>(db, sql, timestamp(now), latest(now), id, ...member.values)
  return row ? accountOf(row) : refuse('token_withdrawn')
}

/** Returns the valid tokens that were made to read, and do not: they are for certain crates. */
export function listWithoutRead(db: Queries, isPrivate: boolean, now: Date) {
  const sql = `SELECT tokens.id, tokens.name, login AS "user" ${VALID} AND crates IS NOT NULL
    AND (instr(scopes, '"read"') > 0 OR (scopes IS NULL AND ? = 1)) ORDER BY tokens.id`
  type Found = Pick<TokenRecord, 'id' | 'name' | 'user'>
  return all<Found>(db, sql, timestamp(now), latest(now), Number(isPrivate))
}

/** Returns what a token, also a revoked one, has published since a time, oldest first. */
export async function listPublished(
  db: Queries,
  token: number,
  since: string,
): Promise<PublishedWith[]> {
  if (!(await first(db, 'SELECT id FROM tokens WHERE id = ?', token)))
    refuse('token_unknown', { id: String(token) })
  return publishedWith(db, token, since)
}
