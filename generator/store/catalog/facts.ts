import type { Queries } from './change.ts'

/** Background work that failed: what it was, when, and why. */
export interface Failure {
  readonly what: string
  readonly at: string
  readonly why: string
}

/** How the keys of remembered failures begin. */
const FAILURE = 'failure:'

/** A remembered fact, such as what the public tree was last rendered with. */
export async function readFact(db: Queries, key: string): Promise<string | null> {
  const row = await db.selectFrom('facts').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value ?? null
}

/** Remembers a fact; null forgets it. */
export async function writeFact(db: Queries, key: string, value: string | null): Promise<void> {
  if (value === null) await db.deleteFrom('facts').where('key', '=', key).execute()
  else {
    await db
      .insertInto('facts')
      .values({ key, value })
      .onConflict(conflict => conflict.column('key').doUpdateSet({ value }))
      .execute()
  }
}

/**
 * Remembers that background work failed, for the operator to see; the last failure of each kind.
 */
export function recordFailure(db: Queries, failure: Failure): Promise<void> {
  return writeFact(db, `${FAILURE}${failure.what}`, JSON.stringify(failure))
}

/** The last failure of each kind of background work. */
export async function listFailures(db: Queries): Promise<Failure[]> {
  const rows = await db
    .selectFrom('facts')
    .select('value')
    .where('key', '>=', FAILURE)
    .where('key', '<', `${FAILURE}~`)
    .execute()
  return rows.map(row => JSON.parse(row.value) as Failure)
}
