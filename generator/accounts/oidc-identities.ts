import { refuse } from '../../core/error/error.ts'
import { sectionOf } from '../../core/settings/named.ts'
import type { OidcSettings } from '../../core/settings/oidc.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, column, first, LIST, type Queries, run, value } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../records/change.ts'
import { ISSUERS } from '../records/groups.ts'
import { writeValue } from '../records/values.ts'
import {
  type Account,
  type AccountRow,
  accountOf,
  acting,
  type LoginRules,
  loggedIn,
  requireUser,
  type User,
} from './accounts.ts'
import { revokeAll } from './tokens.ts'

/** What identifies somebody at an issuer: both are compared exactly. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** Somebody who has logged in at an issuer, as its claims say. */
export interface OidcPerson {
  readonly issuer: OidcSettings
  readonly subject: string
  /** Texts for the name of a new account, the best first. */
  readonly logins: readonly string[]
  /** The name to be shown; null if the issuer sends none. */
  readonly name: string | null
  /** Their groups; null if there are more than the issuer, or this registry, says. */
  readonly groups: readonly string[] | null
}

/** Returns the account of an identity, and whether it is locked; null when there is none. */
export async function findIdentity(db: Queries, { issuer, subject }: Identity) {
  const sql = `SELECT user_id, login, admin, locked_at FROM identities
    JOIN users ON users.id = identities.user_id WHERE issuer = ? AND subject = ?`
  type Locked = AccountRow & { readonly locked_at: string | null }
  const row = await first<Locked>(db, sql, issuer, subject)
  return row && { ...accountOf(row), locked: row.locked_at !== null }
}

/** Returns the account of an identity; refuses one that is locked, or linked no more. */
export async function requireIdentity(db: Queries, identity: Identity): Promise<Account> {
  const existing = await findIdentity(db, identity)
  return existing && !existing.locked ? existing : refuse('oidc_locked')
}

/** How an existing account gets an identity. */
export interface LinkOrder extends Identity {
  /** Whether the account keeps its password; otherwise only the issuer leads to it. */
  readonly keepPassword?: boolean
}

/** What somebody says of a link: the section of the settings, and the subject there. */
export interface LinkOptions {
  readonly issuer?: string
  readonly subject?: string
  readonly keepPassword?: boolean
}

/** Returns the link that somebody describes; refuses half of one, and an unknown section. */
export function linkOrder(
  oidc: Readonly<Record<string, OidcSettings>>,
  { issuer: name = '', subject = '', keepPassword = false }: LinkOptions,
): LinkOrder {
  if (name === '' || subject === '') return refuse('link_incomplete')
  const { issuer } = sectionOf(oidc, name) ?? refuse('issuer_section_unknown', { name })
  return { issuer, subject, keepPassword }
}

/** Links an account, in a transaction; ends its other sessions, links and, mostly, its password. */
export async function insertIdentity(
  tx: Queries,
  { id, login }: Pick<User, 'id' | 'login'>,
  { issuer, subject, keepPassword = false }: LinkOrder,
  by: Permitted,
): Promise<void> {
  const there = await findIdentity(tx, { issuer, subject })
  if (there) refuse('oidc_taken', { login: there.login })
  const sql = 'INSERT INTO identities (issuer, subject, user_id, linked_at) VALUES (?, ?, ?, ?)'
  await run(tx, sql, issuer, subject, id, by.at)
  if (!keepPassword) await run(tx, 'UPDATE users SET password = NULL WHERE id = ?', id)
  await run(tx, 'DELETE FROM password_links WHERE user_id = ?', id)
  const others = 'DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?'
  await run(tx, others, id, by.sessionId ?? null)
  const detail = { login, issuer, subject }
  await addEvent(tx, by, { action: 'identity-link', detail })
}

/** Links an account for its owner. Refuses a machine's, and an identity that another one has. */
export async function linkIdentity(
  database: Database,
  login: string,
  order: LinkOrder,
  change: Change,
): Promise<void> {
  await makeChange(database, change, 'administrator', async (tx, by) => {
    const user = await requireUser(tx, login)
    if (user.machine) refuse('user_machine', { login: user.login })
    // Somebody who was removed comes back, under another name.
    const left = `DELETE FROM identities WHERE issuer = ? AND subject = ?
      AND user_id IN (SELECT id FROM users WHERE removed_at IS NOT NULL)`
    await run(tx, left, order.issuer, order.subject)
    await insertIdentity(tx, user, order, by)
  })
}

/**
 * Takes an account away from an issuer; ends its sessions, tokens, and groups there: no login there
 * vouches for them any more, and whoever a wrong link let in may have made some. Returns how many
 * tokens it revoked.
 */
export async function unlinkIdentity(
  database: Database,
  { id, login }: Pick<User, 'id' | 'login'>,
  issuer: string,
  change: Change,
): Promise<number> {
  return makeChange(database, change, 'administrator', async (tx, by) => {
    const there = 'user_id = ? AND issuer = ?'
    const links = await run(tx, `DELETE FROM identities WHERE ${there}`, id, issuer)
    if (links === 0) refuse('identity_unknown', { login, issuer })
    await run(tx, `DELETE FROM user_groups WHERE ${there}`, id, issuer)
    await run(tx, 'DELETE FROM sessions WHERE user_id = ?', id)
    const tokens = await revokeAll(tx, id, by)
    await addEvent(tx, by, { action: 'identity-unlink', detail: { login, issuer, tokens } })
    return tokens
  })
}

/**
 * Has accounts, groups and owners follow an issuer to another URL. Refuses, and changes nothing,
 * if both know a subject: it may be somebody else's.
 */
export async function moveIssuer(
  database: Database,
  from: string,
  to: string,
  change: Change,
): Promise<Record<'accounts' | 'groups', number>> {
  return makeChange(database, change, 'operator', async (tx, by) => {
    const both = `SELECT subject FROM identities WHERE issuer = ?
      AND subject IN (SELECT subject FROM identities WHERE issuer = ?) LIMIT 1`
    const subject = await value<string>(tx, both, from, to)
    if (subject !== null) refuse('issuer_subject_twice', { subject, from, to })
    const merged = `INSERT INTO group_owners (crate_id, group_id, added_at, added_by)
      SELECT crate_id, kept.id, added_at, added_by FROM group_owners
      JOIN groups AS old ON old.id = group_id AND old.issuer = ?
      JOIN groups AS kept ON kept.issuer = ? AND kept.name = old.name
      WHERE true ON CONFLICT DO NOTHING`
    await run(tx, merged, from, to)
    const doubles = `SELECT id FROM groups WHERE issuer = ?
      AND name IN (SELECT name FROM groups WHERE issuer = ?)`
    await run(tx, `DELETE FROM group_owners WHERE group_id IN (${doubles})`, from, to)
    const kept = `SELECT kept.id FROM groups AS old JOIN groups AS kept ON kept.name = old.name
      WHERE old.id = owner_group AND kept.issuer = ?`
    const rules = `UPDATE trust_rules SET owner_group = (${kept}) WHERE owner_group IN (${doubles})`
    await run(tx, rules, to, from, to)
    await run(tx, `DELETE FROM groups WHERE id IN (${doubles})`, from, to)
    const older = `DELETE FROM user_groups WHERE issuer = ?
      AND user_id IN (SELECT user_id FROM user_groups WHERE issuer = ?)`
    await run(tx, older, from, to)
    const move = (table: string) =>
      run(tx, `UPDATE ${table} SET issuer = ? WHERE issuer = ?`, to, from)
    await move('user_groups')
    const moved = { accounts: await move('identities'), groups: await move('groups') }
    if (moved.accounts + moved.groups === 0) refuse('issuer_unused', { issuer: from })
    // What follows counts by the settings of the other URL.
    await writeValue(tx, ISSUERS, null)
    await addEvent(tx, by, { action: 'issuer-move', detail: { from, to, ...moved } })
    return moved
  })
}

/** Returns identities of users, each with the last login there, in the order of their issuers. */
export function listIdentities(db: Queries, ids: readonly number[]) {
  const sql = `SELECT issuer, subject, user_id AS "userId", logged_in_at AS logged_in
    FROM identities WHERE user_id IN ${LIST} ORDER BY issuer, subject`
  type Found = Identity & { readonly userId: number; readonly logged_in: string | null }
  return all<Found>(db, sql, ids)
}

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
