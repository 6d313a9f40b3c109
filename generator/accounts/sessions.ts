import { refuse } from '../../core/error/error.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, type Condition, first, type Queries, run, value } from '../database/statement.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'
import { type AccessTime, type Account, type AccountRow, accountOf, loggedIn } from './accounts.ts'
import { formProof, hashSecret, makeSecret, type RecordUse } from './secret.ts'

export interface Session {
  readonly id: number
  readonly user: Account
  /** The anti-CSRF token in this session's forms. */
  readonly proof: string
}

export interface SessionRecord {
  readonly id: number
  readonly agent: string
  readonly created: string
  readonly lastSeen: string
}

/** How a session is begun: one by a link of an administrator is good without a login elsewhere. */
export type SessionWay = 'password' | 'link' | 'oidc'

/** More than anyone needs; a login beyond that ends the session unused for longest. */
const MOST = 50
const AGENT_LENGTH = 120

interface NewSession {
  readonly agent: string
  readonly now: Date
  readonly seconds: number
  readonly way?: SessionWay
  /** The session that the browser had before, which ends. */
  readonly before?: number | undefined
}

/** Logs a user in and returns the secret for the cookie; only its SHA-256 is stored. */
export async function startSession(
  database: Database,
  userId: number,
  { agent, now, seconds, way = 'password', before }: NewSession,
  change: Change,
): Promise<string> {
  const secret = makeSecret()
  const at = timestamp(now)
  const name = agent.slice(0, AGENT_LENGTH) || 'unknown browser'
  await makeChange(database, change, { user: userId }, async (tx, by) => {
    await run(tx, 'DELETE FROM sessions WHERE expires_at <= ? OR id = ?', at, before ?? null)
    const surplus = `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE user_id = ?
      ORDER BY last_seen_at DESC, id DESC LIMIT 1000000 OFFSET ?)`
    await run(tx, surplus, userId, MOST - 1)
    if (way === 'link') await run(tx, 'DELETE FROM password_links WHERE user_id = ?', userId)
    const sql = `INSERT INTO sessions
      (user_id, hash, agent, created_at, last_seen_at, expires_at, way)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`
    const ends = timestamp(now, seconds)
    const session = await value(tx, sql, userId, hashSecret(secret), name, at, at, ends, way)
    await addEvent(tx, by, {
      action: 'login',
      detail: { session, ...(way !== 'password' && { way }) },
    })
  })
  return secret
}

/** Returns the condition of sessions that are good at a given time, joined with their users. */
function good(time: AccessTime): Condition {
  const { now, rules } = time
  const member = loggedIn(time)
  const ways = rules.auth.passwords === 'off' ? " AND way = 'oidc'" : ''
  return {
    sql: `FROM sessions JOIN users ON users.id = sessions.user_id
      WHERE expires_at > ? AND last_seen_at > ? AND sessions.created_at <= ?
        AND locked_at IS NULL AND (way = 'link' OR (${member.sql}${ways}))`,
    values: [
      timestamp(now),
      timestamp(now, -rules.auth.session_idle_seconds),
      latest(now),
      ...member.values,
    ],
  }
}

/** Returns the user of a session; refuses an ended session, or a locked user. */
export async function requireSession(db: Queries, id: number, time: AccessTime): Promise<Account> {
  const { sql, values } = good(time)
  const select = `SELECT user_id, login, admin ${sql} AND sessions.id = ?`
  const row = await first<AccountRow>(db, select, ...values, id)
  return row ? accountOf(row) : refuse('session_absent')
}

/** Returns the session of a cookie, or null when it expired, was idle too long or was ended. */
export async function findSession(
  database: Database,
  secret: string,
  time: AccessTime,
  record: RecordUse,
): Promise<Session | null> {
  const { sql, values } = good(time)
  const select = `SELECT sessions.id, last_seen_at, user_id, login, admin ${sql} AND hash = ?`
  type LastUse = { readonly id: number; readonly last_seen_at: string }
  const row = await first<AccountRow & LastUse>(database, select, ...values, hashSecret(secret))
  if (!row) return null
  await record(row.last_seen_at, time.now, at =>
    run(database, 'UPDATE sessions SET last_seen_at = ? WHERE id = ?', at, row.id),
  )
  return { id: row.id, user: accountOf(row), proof: formProof(secret) }
}

/** Lists the valid sessions of a user, the latest first. */
export async function listSessions(
  database: Database,
  userId: number,
  time: AccessTime,
): Promise<SessionRecord[]> {
  const { sql, values } = good(time)
  const select = `SELECT sessions.id, agent, sessions.created_at AS created,
      last_seen_at AS "lastSeen" ${sql} AND user_id = ? ORDER BY sessions.id DESC`
  return all(database, select, ...values, userId)
}

/** Ends all sessions of a user except `kept`, if given, and returns how many it ended. */
export async function endSessions(
  database: Database,
  { id, login }: Pick<Account, 'id' | 'login'>,
  change: Change,
  kept?: number,
): Promise<number> {
  return makeChange(database, change, { user: id }, async (tx, by) => {
    const sql = 'DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?'
    const sessions = await run(tx, sql, id, kept ?? null)
    if (sessions > 0) await addEvent(tx, by, { action: 'session-end', detail: { login, sessions } })
    return sessions
  })
}

/** Ends a session of a user; returns its browser. Refuses a session of another user as if it did not exist. */
export async function endSession(
  database: Database,
  { id, user }: Pick<Session, 'id' | 'user'>,
  change: Change,
  action: 'logout' | 'session-end',
): Promise<string> {
  return makeChange(database, change, { user: user.id }, async (tx, by) => {
    const sql = 'DELETE FROM sessions WHERE id = ? AND user_id = ? RETURNING agent'
    const agent = await value<string>(tx, sql, id, user.id)
    if (agent === null) refuse('session_unknown')
    await addEvent(tx, by, { action })
    return agent
  })
}
