import { timestamp } from '../../../core/timestamp.ts'
import type { Database } from '../../database/connection.ts'
import { all, column, LIST, type Queries } from '../../database/statement.ts'
import { acting, type LoginRules, loggedIn } from '../accounts.ts'
import { listIdentities } from '../oidc-identities.ts'

/**
 * Returns users with their logins at issuers, by the names of `--json`: `login_due` if tokens and
 * sessions wait for another one; `made` has what still works of those who can do nothing any more.
 */
export async function listAccess<T extends { readonly id: number }>(
  database: Database,
  rules: LoginRules,
  now: Date,
  users: readonly T[],
) {
  const ids = users.map(({ id }) => id)
  const seen = await listIdentities(database, ids)
  const { sql, values } = loggedIn({ now, rules })
  const due = `SELECT id FROM users WHERE locked_at IS NULL AND id IN ${LIST} AND NOT ${sql}`
  const waiting = await column<number>(database, due, ids, ...values)
  const left = await leftBehind(database, ids, rules, now)
  return users.map(user => ({
    ...user,
    identities: seen.flatMap(({ userId, ...each }) => (userId === user.id ? [each] : [])),
    login_due: waiting.includes(user.id),
    made: left.flatMap(({ maker, what }) => (maker === user.id ? [what] : [])),
  }))
}

/** Returns accounts of machines, rules of CI systems and open links by those who have left. */
function leftBehind(db: Queries, ids: readonly number[], rules: LoginRules, now: Date) {
  const { sql, values } = acting(rules, now)
  const gone = `users.id IN ${LIST} AND NOT (${sql})`
  const makers = `SELECT users.id AS maker, 'account ' || made.login AS what FROM users
      JOIN users AS made ON made.made_by = users.id
      WHERE made.machine = 1 AND made.locked_at IS NULL AND ${gone}
    UNION ALL SELECT users.id, 'rule ' || trust_rules.id FROM users
      JOIN trust_rules ON trust_rules.created_by = users.id WHERE ${gone}
    UNION ALL SELECT users.id, 'password link of ' || made.login FROM users
      JOIN password_links ON password_links.made_by = users.id
      JOIN users AS made ON made.id = password_links.user_id
      WHERE expires_at > ? AND ${gone}`
  const who = [ids, ...values] as const
  type Found = { readonly maker: number; readonly what: string }
  return all<Found>(db, makers, ...who, ...who, timestamp(now), ...who)
}
