import { createHash, randomBytes } from 'node:crypto'
import {
  addEvent,
  type Change,
  type Database,
  issue,
  operatorChange,
  refuse,
  refuseErrors,
} from '../../generator/index.ts'

/** What a token may do: the endpoint scopes of crates.io, and `read` for a private registry. */
export const SCOPES = ['publish-new', 'publish-update', 'yank', 'change-owners', 'read'] as const
export type Scope = (typeof SCOPES)[number]

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** One line without direction marks: administrators read these names, too. */
const NAME = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u
/** A crate name, or a prefix followed by `*`. */
const PATTERN = /^(?:[A-Za-z][A-Za-z0-9_-]{0,63}\*?|\*)$/
const FORM = /^plim_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

/** A new token: `plim_`, 32 random base62 characters (190 bits), 6 characters of checksum. */
export function makeToken(): string {
  let secret = ''
  while (secret.length < 32) {
    // 248 is the largest multiple of 62 a byte holds: what lies above would favour the first
    // characters.
    for (const byte of randomBytes(64))
      if (byte < 248 && secret.length < 32) secret += ALPHABET[byte % 62]
  }
  return `plim_${secret}${checksum(secret)}`
}

/** Whether a text has the form of a token, checksum included; it may still be unknown. */
export function isToken(text: string): boolean {
  const [, secret = '', sum = ''] = FORM.exec(text) ?? []
  return secret !== '' && checksum(secret) === sum
}

/** What is stored of a token. Its 190 random bits need no salt. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function checksum(secret: string): string {
  let number = createHash('sha256').update(secret).digest().readUIntBE(0, 6)
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
  /** Null: everything its user may do. */
  readonly scopes: readonly Scope[] | null
  /** Crate names, or beginnings ending in `*`; null: every crate. */
  readonly crates: readonly string[] | null
  readonly created: string
  readonly expires: string | null
  readonly last_used: string | null
}

/** What a new token is to be. */
export interface TokenOrder {
  readonly userId: number
  readonly name: string
  readonly scopes: readonly Scope[] | null
  readonly crates: readonly string[] | null
  readonly at: string
  readonly expires: string | null
  /** How many tokens that are good the user may have with this one; default: any number. */
  readonly most?: number
}

/**
 * Creates a token and returns it, the only time it is visible. Refuses an invalid name, a crate
 * pattern that matches no name, and one token too many.
 */
export async function createToken(
  database: Database,
  order: TokenOrder,
  by: Change = operatorChange(order.at),
): Promise<string> {
  const { name, scopes, crates, expires } = order
  const patterns = (crates ?? []).filter(one => !PATTERN.test(one))
  refuseErrors([
    ...(NAME.test(name) ? [] : [issue('token_name_invalid')]),
    ...patterns.map(pattern => issue('crate_pattern_invalid', { pattern })),
  ])
  const token = makeToken()
  await database.transaction().execute(async tx => {
    if (order.most !== undefined && (await countGood(tx, order)) >= order.most) {
      refuse('tokens_too_many', { max: order.most })
    }
    const row = await tx
      .insertInto('tokens')
      .values({
        user_id: order.userId,
        name,
        hash: hashToken(token),
        scopes: scopes && JSON.stringify(scopes),
        crates: crates && JSON.stringify(crates),
        created_at: order.at,
        expires_at: expires,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const login = await loginOf(tx, order.userId)
    const detail = { token: row.id, login, name, scopes, crates, expires }
    await addEvent(tx, by, { action: 'token-create', detail })
  })
  return token
}

async function countGood(tx: Database, { userId, at }: TokenOrder): Promise<number> {
  const row = await tx
    .selectFrom('tokens')
    .select(tx.fn.countAll<number>().as('tokens'))
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
    .executeTakeFirstOrThrow()
  return Number(row.tokens)
}

async function loginOf(tx: Database, userId: number): Promise<string> {
  const query = tx.selectFrom('users').select('login').where('id', '=', userId)
  return (await query.executeTakeFirstOrThrow()).login
}

/** Scopes and crates of a stored token. */
export function reachOf(row: { readonly scopes: string | null; readonly crates: string | null }) {
  return {
    scopes: row.scopes ? (JSON.parse(row.scopes) as Scope[]) : null,
    crates: row.crates ? (JSON.parse(row.crates) as string[]) : null,
  }
}

/** Tokens that are not revoked, oldest first: of one user, or of all. */
export async function listTokens(database: Database, userId?: number): Promise<TokenRecord[]> {
  const rows = await database
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .selectAll('tokens')
    .select('users.login')
    .where('tokens.revoked_at', 'is', null)
    .$if(userId !== undefined, query => query.where('tokens.user_id', '=', userId ?? 0))
    .orderBy('tokens.id')
    .execute()
  return rows.map(({ id, name, ...row }) => ({
    id,
    name,
    user: row.login,
    ...reachOf(row),
    created: row.created_at,
    expires: row.expires_at,
    last_used: row.last_used_at,
  }))
}

/** Revokes a token. Refuses one that is unknown, revoked already, or not of user `userId`. */
export async function revokeToken(
  database: Database,
  id: number,
  at: string,
  { by = operatorChange(at), userId }: { readonly by?: Change; readonly userId?: number } = {},
): Promise<void> {
  await database.transaction().execute(async tx => {
    const row = await tx
      .updateTable('tokens')
      .set({ revoked_at: at })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .$if(userId !== undefined, query => query.where('user_id', '=', userId ?? 0))
      .returning(['user_id', 'name'])
      .executeTakeFirst()
    if (!row) return refuse('token_unknown', { id })
    const detail = { token: id, login: await loginOf(tx, row.user_id), name: row.name }
    await addEvent(tx, by, { action: 'token-revoke', detail })
  })
}

/** Scopes in the order of `SCOPES`, each once; refuses all unknown ones at once. */
export function parseScopes(texts: readonly string[]): Scope[] {
  const known: readonly string[] = SCOPES
  const unknown = texts.filter(text => !known.includes(text))
  refuseErrors(unknown.map(scope => issue('scope_invalid', { scope, accepted: SCOPES.join(', ') })))
  return SCOPES.filter(scope => texts.includes(scope))
}
