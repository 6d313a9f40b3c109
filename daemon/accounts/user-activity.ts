import type { Database } from '../../generator/index.ts'
import type { User } from './accounts.ts'

/** A user, how many crates they own and when they were last seen. */
export interface ActiveUser extends User {
  readonly crates: number
  /** With a token or in a browser; null for never. */
  readonly lastSeen: string | null
}

/** Some users with what they do, in their order. */
export async function userActivity(
  database: Database,
  users: readonly User[],
): Promise<ActiveUser[]> {
  const { max, count } = database.fn
  const ids = users.map(user => user.id)
  const [owned, tokens, sessions] = await Promise.all([
    database
      .selectFrom('owners')
      .select(['user_id', count<number>('crate_id').as('crates')])
      .where('user_id', 'in', ids)
      .groupBy('user_id')
      .execute(),
    database
      .selectFrom('tokens')
      .select(['user_id', max('last_used_at').as('seen')])
      .where('user_id', 'in', ids)
      .groupBy('user_id')
      .execute(),
    database
      .selectFrom('sessions')
      .select(['user_id', max('last_seen_at').as('seen')])
      .where('user_id', 'in', ids)
      .groupBy('user_id')
      .execute(),
  ])
  const crates = new Map(owned.map(row => [row.user_id, Number(row.crates)]))
  const seen = new Map<number, string>()
  for (const row of [...tokens, ...sessions]) {
    if (row.seen !== null && row.seen > (seen.get(row.user_id) ?? ''))
      seen.set(row.user_id, row.seen)
  }
  return users.map(user => ({
    ...user,
    crates: crates.get(user.id) ?? 0,
    lastSeen: seen.get(user.id) ?? null,
  }))
}
