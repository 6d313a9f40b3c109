import { addEvent, type Change, type Database, refuse, timestamp } from '../../generator/index.ts'
import type { Account } from './accounts.ts'
import type { RecordUse } from './last-use.ts'
import { formProof, hashSecret, makeSecret } from './secret.ts'

/** A login in a browser, as the one who sent its cookie. */
export interface Session {
  readonly id: number
  readonly user: Account
  /** What forms of this session carry. */
  readonly proof: string
}

/** A login in a browser, as its user sees it in a list. */
export interface SessionRecord {
  readonly id: number
  readonly agent: string
  readonly created: string
  readonly lastSeen: string
}

/** What decides whether a session still holds. */
export interface SessionTime {
  readonly now: Date
  /** After so many seconds without a request it does not. */
  readonly idleSeconds: number
}

/** As many browsers as anyone uses; beyond that the login not seen for longest goes. */
const MOST = 50
const AGENT_LENGTH = 120

/** Logs a user in and gives the secret for the cookie; only its SHA-256 is kept. */
export async function startSession(
  database: Database,
  userId: number,
  { agent, now, seconds }: { readonly agent: string; readonly now: Date; readonly seconds: number },
  change: Change,
): Promise<string> {
  const secret = makeSecret()
  const at = timestamp(now)
  await database.transaction().execute(async tx => {
    await tx.deleteFrom('sessions').where('expires_at', '<=', at).execute()
    const own = tx.selectFrom('sessions').select('id').where('user_id', '=', userId)
    const kept = own
      .orderBy('last_seen_at', 'desc')
      .orderBy('id', 'desc')
      .limit(MOST - 1)
    await tx
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('id', 'not in', kept)
      .execute()
    await tx
      .insertInto('sessions')
      .values({
        user_id: userId,
        hash: hashSecret(secret),
        agent: agent.slice(0, AGENT_LENGTH) || 'unknown browser',
        created_at: at,
        last_seen_at: at,
        expires_at: timestamp(new Date(now.getTime() + seconds * 1000)),
      })
      .execute()
    await addEvent(tx, change, { action: 'login' })
  })
  return secret
}

/** The session of a cookie; null when it has expired, was idle for `idleSeconds`, or was ended. */
export async function findSession(
  database: Database,
  secret: string,
  { now, idleSeconds }: SessionTime,
  record: RecordUse,
): Promise<Session | null> {
  const row = await database
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.id', 'sessions.expires_at', 'sessions.last_seen_at'])
    .select(['users.id as user_id', 'users.login', 'users.admin'])
    .where('sessions.hash', '=', hashSecret(secret))
    .where('users.locked_at', 'is', null)
    .executeTakeFirst()
  if (!row || Date.parse(row.expires_at) <= now.getTime()) return null
  if (Date.parse(row.last_seen_at) <= now.getTime() - idleSeconds * 1000) return null
  if (now.getTime() - Date.parse(row.last_seen_at) > 60_000) {
    const seen = { last_seen_at: timestamp(now) }
    const update = database.updateTable('sessions').set(seen).where('id', '=', row.id)
    await record(now, () => update.execute())
  }
  return {
    id: row.id,
    user: { id: row.user_id, login: row.login, admin: row.admin === 1 },
    proof: formProof(secret),
  }
}

/** Where a user is logged in, the latest first. */
export async function listSessions(
  database: Database,
  userId: number,
  { now, idleSeconds }: SessionTime,
): Promise<SessionRecord[]> {
  return database
    .selectFrom('sessions')
    .select(['id', 'agent', 'created_at as created', 'last_seen_at as lastSeen'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', timestamp(now))
    .where('last_seen_at', '>', timestamp(new Date(now.getTime() - idleSeconds * 1000)))
    .orderBy('id', 'desc')
    .execute()
}

/** Ends every session of a user but the one to keep, if any, and says how many there were. */
export async function endSessions(
  database: Database,
  user: { readonly id: number; readonly login: string },
  change: Change,
  kept?: number,
): Promise<number> {
  return database.transaction().execute(async tx => {
    const all = tx.deleteFrom('sessions').where('user_id', '=', user.id)
    const ended = await (kept === undefined ? all : all.where('id', '!=', kept)).executeTakeFirst()
    const sessions = Number(ended.numDeletedRows)
    if (sessions > 0)
      await addEvent(tx, change, { action: 'session-end', detail: { login: user.login, sessions } })
    return sessions
  })
}

/** Ends a session of a user. Refuses one that is not theirs, as if it did not exist. */
export async function endSession(
  database: Database,
  session: { readonly id: number; readonly user: Account },
  change: Change,
  action: 'logout' | 'session-end',
): Promise<void> {
  await database.transaction().execute(async tx => {
    const ended = await tx
      .deleteFrom('sessions')
      .where('id', '=', session.id)
      .where('user_id', '=', session.user.id)
      .executeTakeFirst()
    if (ended.numDeletedRows === 0n) refuse('session_unknown')
    await addEvent(tx, change, { action })
  })
}
