import { timestamp } from '../../../core/timestamp.ts'
import type { Database } from '../../database/connection.ts'
import { all, column, LIST, type Queries } from '../../database/statement.ts'
import { listUsers, type User } from '../accounts.ts'
import { acting, type LoginRules, loggedIn } from '../oidc-access.ts'
import { listIdentities } from '../oidc-identities.ts'

/** A user and whether they are still one of the company, by the names of `--json`. */
export interface UserAccess extends User {
  readonly identities: readonly {
    readonly issuer: string
    readonly subject: string
    readonly logged_in: string | null
  }[]
  /** Whether tokens and sessions wait for a login at the issuer. */
  readonly login_due: boolean
  /** What still works that somebody made who can do nothing any more. */
  readonly made: readonly string[]
}

/** Returns all users with their logins at issuers, and what those who left have made. */
export async function listAccess(
  database: Database,
  rules: LoginRules,
  now: Date,
): Promise<UserAccess[]> {
  const users = await listUsers(database)
  const ids = users.map(({ id }) => id)
  const identities = await listIdentities(database, rules.oidc, ids)
  const due = new Set(await loginsDue(database, ids, rules, now))
  const made = await leftBehind(database, ids, rules, now)
  return users.map(user => ({
    ...user,
    identities: identities
      .filter(({ userId }) => userId === user.id)
      .map(({ issuer, subject, loggedIn }) => ({ issuer, subject, logged_in: loggedIn })),
    login_due: due.has(user.id),
    made: made.filter(({ maker }) => maker === user.id).map(({ what }) => what),
  }))
}

/** Returns which of the users have tokens and sessions that wait for a login at an issuer. */
export function loginsDue(
  db: Queries,
  ids: readonly number[],
  rules: LoginRules,
  now: Date,
): Promise<number[]> {
  const { sql, values } = loggedIn(rules, now)
  const due = `SELECT id FROM users WHERE locked_at IS NULL AND id IN ${LIST} AND NOT ${sql}`
  return column(db, due, ids, ...values)
}

/** Something that still works although who made it can do nothing any more. */
export interface LeftBehind {
  readonly maker: number
  readonly what: string
}

/** Returns accounts of machines, rules of CI systems and open links by those who have left. */
export function leftBehind(
  db: Queries,
  ids: readonly number[],
  rules: LoginRules,
  now: Date,
): Promise<LeftBehind[]> {
  const { sql, values } = acting(rules, now)
  const gone = `users.id IN ${LIST} AND NOT (${sql})`
  const found = `SELECT users.id AS maker, 'account ' || made.login AS what FROM users
      JOIN users AS made ON made.made_by = users.id
      WHERE made.machine = 1 AND made.locked_at IS NULL AND ${gone}
    UNION ALL SELECT users.id, 'rule ' || trust_rules.id FROM users
      JOIN trust_rules ON trust_rules.created_by = users.id WHERE ${gone}
    UNION ALL SELECT users.id, 'password link of ' || made.login FROM users
      JOIN password_links ON password_links.made_by = users.id
      JOIN users AS made ON made.id = password_links.user_id
      WHERE expires_at > ? AND ${gone}`
  const who = [ids, ...values] as const
  return all(db, found, ...who, ...who, timestamp(now), ...who)
}
