import type { Settings } from '../../core/settings/settings.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Condition } from '../database/statement.ts'

/** The settings that decide how long a login holds. */
export type LoginRules = Pick<Settings, 'auth' | 'oidc'>

/** The data that decides whether a token or session is still good. */
export interface AccessTime {
  readonly now: Date
  readonly rules: LoginRules
}

const DAY = 86_400

/**
 * Returns the condition of statements on `users` that tokens and sessions of a user answer: no
 * issuer has the account, or its owner has logged in at one of them within its `token_days`. An
 * issuer that the settings no longer have gives nothing.
 */
export function loggedIn({ now, rules: { oidc } }: AccessTime): Condition {
  const issuers = Object.values(oidc)
  const each = issuers.map(() => '(issuer = ? AND logged_in_at > ?)').join(' OR ')
  const own = 'FROM identities WHERE identities.user_id = users.id'
  return {
    sql: `(NOT EXISTS (SELECT 1 ${own}) OR EXISTS (SELECT 1 ${own}
      AND logged_in_at <= ? AND (${each || '1 = 0'})))`,
    values: [
      latest(now),
      ...issuers.flatMap(({ issuer, token_days: days }) => [
        issuer,
        days === 0 ? '' : timestamp(now, -days * DAY),
      ]),
    ],
  }
}

/** Returns the condition that a user can do something: not locked, and logged in as they have to. */
export function acting(rules: LoginRules, now: Date): Condition {
  const { sql, values } = loggedIn({ now, rules })
  return { sql: `users.locked_at IS NULL AND ${sql}`, values }
}
