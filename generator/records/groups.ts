import type { Settings } from '../../core/settings/settings.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, column, one, type Queries, type Row, run } from '../database/statement.ts'
import { readValue, writeValue } from './values.ts'

/** A group: whose it is, an issuer's by its URL or `local`, and its exact name there. */
export interface GroupRef {
  readonly issuer: string
  readonly name: string
}

export const LOCAL = 'local'

/** What stands before the name of a group where users are named. */
export const GROUP = 'group:'

/** Whether the names of `user_groups` have that of `groups`, in a statement with both. */
export const HAS_GROUP = `user_groups.issuer = groups.issuer
  AND instr(user_groups.names, '\n' || groups.name || '\n') > 0`

/** Whoever owns a crate, as the records know them: a user, or a group by its number. */
export type OwnerRef = { readonly user: number } | { readonly group: number }

/** How a group is written, in a statement on `groups`: with its issuer where a name says too little. */
export const GROUP_LOGIN = `'${GROUP}' || CASE WHEN substr(groups.name, 1, 6) = '${LOCAL}/'
    OR EXISTS (SELECT 1 FROM groups AS others
      WHERE (others.name = groups.name AND others.id <> groups.id)
        OR substr(groups.name, 1, length(others.section) + 1) = others.section || '/')
  THEN groups.section || '/' ELSE '' END || groups.name`

/** Returns the names of groups as `user_groups` has them; none has a line break. */
function groupNames(names: readonly string[]): string {
  return `\n${names.join('\n')}\n`
}

const namesIn = (names: string) => names.split('\n').filter(name => name !== '')

/** Whether groups count: they have not ended, and no wrong clock gave them; see `counting`. */
export const COUNTS = `user_groups.until > ? AND NOT EXISTS (SELECT 1 FROM identities
  WHERE identities.user_id = user_groups.user_id AND identities.issuer = user_groups.issuer
    AND logged_in_at > ?)`

/** Returns the parameters of `COUNTS`. */
export function counting(at: string): [string, string] {
  return [at, latest(new Date(at))]
}

/** Returns the groups of a user by issuer, as they count at a time; without one, also ended ones. */
export async function groupsOf(
  db: Queries,
  userId: number,
  at?: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const [which, times] = at === undefined ? ['1 = 1', []] : [COUNTS, counting(at)]
  const sql = `SELECT issuer, names FROM user_groups WHERE user_id = ? AND ${which} ORDER BY issuer`
  const rows = await all<Pick<Row<'user_groups'>, 'issuer' | 'names'>>(db, sql, userId, ...times)
  return new Map(rows.map(row => [row.issuer, namesIn(row.names)]))
}

/** Sets the groups that a user has at an issuer, until a time. */
export async function setGroups(
  tx: Queries,
  userId: number,
  issuer: string,
  names: readonly string[],
  until: string,
): Promise<void> {
  await run(tx, 'DELETE FROM user_groups WHERE user_id = ? AND issuer = ?', userId, issuer)
  if (names.length === 0) return
  const sql = 'INSERT INTO user_groups (user_id, issuer, names, until) VALUES (?, ?, ?, ?)'
  await run(tx, sql, userId, issuer, groupNames(names), until)
}

/** Returns the issuers that have a group of a name: that of a user, or one that is recorded. */
export async function issuersWith(db: Queries, name: string): Promise<string[]> {
  const sql = `SELECT issuer FROM groups WHERE name = ?
    UNION SELECT issuer FROM user_groups WHERE instr(names, ?) > 0`
  const rows = await all<Pick<GroupRef, 'issuer'>>(db, sql, name, groupNames([name]))
  return rows.map(({ issuer }) => issuer).sort()
}

/** A group that is recorded, and how it is written. */
export interface GroupRecord extends GroupRef {
  readonly id: number
  readonly login: string
  readonly title: string | null
}

const RECORD = `SELECT id, issuer, name, ${GROUP_LOGIN} AS login, title FROM groups`

/** Returns a group, which it records if it is not yet. */
export async function recordGroup(
  tx: Queries,
  { issuer, name }: GroupRef,
  section: string,
): Promise<GroupRecord> {
  const sql = `INSERT INTO groups (issuer, name, section) VALUES (?, ?, ?)
    ON CONFLICT (issuer, name) DO UPDATE SET section = excluded.section`
  await run(tx, sql, issuer, name, section)
  return one<GroupRecord>(tx, `${RECORD} WHERE issuer = ? AND name = ?`, issuer, name)
}

/** The key of the issuers by whose settings groups count. */
export const ISSUERS = 'issuers'

/**
 * Brings groups in line with the settings in force, if the recorded ones differ: groups of an
 * issuer without a section end, others count for its `token_days` after the login.
 */
export async function recordIssuers(database: Database, oidc: Settings['oidc']): Promise<void> {
  const issuers = Object.values(oidc)
  const rows = issuers.map(({ issuer, name, token_days: days }) => [issuer, name, days])
  const text = rows.length === 0 ? null : JSON.stringify(rows)
  if ((await readValue(database, ISSUERS)) === text) return
  await database.transaction(async tx => {
    await run(tx, "UPDATE user_groups SET until = '' WHERE issuer <> ?", LOCAL)
    for (const { issuer, name, token_days: days } of issuers) {
      await run(tx, 'UPDATE groups SET section = ? WHERE issuer = ?', name, issuer)
      const logins = `SELECT user_id AS id, max(logged_in_at) AS at FROM identities
        WHERE issuer = ? AND logged_in_at IS NOT NULL GROUP BY user_id`
      const count = 'UPDATE user_groups SET until = ? WHERE issuer = ? AND user_id = ?'
      for (const { id, at } of await all<{ id: number; at: string }>(tx, logins, issuer))
        await run(tx, count, loginEnd(days, new Date(at)), issuer, id)
    }
    await writeValue(tx, ISSUERS, text)
  })
}

/** Returns until when the groups of a login count, so that they end with it. */
export function loginEnd(days: number, now: Date): string {
  return days === 0 ? '9999-12-31T23:59:59Z' : timestamp(now, days * 86_400)
}

/** Returns the groups that own a crate. */
export function groupsOwning(db: Queries, crateId: number): Promise<GroupRecord[]> {
  const sql = `${RECORD} WHERE id IN (SELECT group_id FROM group_owners WHERE crate_id = ?)
    ORDER BY id`
  return all(db, sql, crateId)
}

/** Sets or removes the title of a group. */
export async function setTitle(tx: Queries, id: number, title: string | null): Promise<void> {
  await run(tx, 'UPDATE groups SET title = ? WHERE id = ?', title, id)
}

/** Returns the ids of the crates that a group owns. */
export function cratesOfGroup(db: Queries, id: number): Promise<number[]> {
  return column(db, 'SELECT crate_id FROM group_owners WHERE group_id = ? ORDER BY crate_id', id)
}

/** Returns the groups of all users. */
export async function listMemberships(db: Queries) {
  const sql = `SELECT login, issuer, names, until FROM user_groups
    JOIN users ON users.id = user_id ORDER BY login, issuer`
  type Found = Pick<Row<'user_groups'>, 'issuer' | 'names' | 'until'> & { readonly login: string }
  return (await all<Found>(db, sql)).map(row => ({ ...row, names: namesIn(row.names) }))
}

/** Returns the groups that are recorded: those that own crates, have a title, or are by hand. */
export function listGroups(db: Queries): Promise<GroupRecord[]> {
  return all(db, `${RECORD} ORDER BY name, issuer`)
}
