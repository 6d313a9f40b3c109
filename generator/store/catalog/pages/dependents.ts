import type { CanonicalName } from '../../../../core/name.ts'
import type { Database } from '../../database/database.ts'
import type { Slice } from '../search/found.ts'

/** How many crates depend on a name of this registry, each with its newest version. */
export async function countDependents(
  database: Database,
  dependency: CanonicalName,
): Promise<number> {
  const row = await database
    .selectFrom('dependents')
    .select(eb => eb.fn.countAll<number>().as('n'))
    .where('dependency', '=', dependency)
    .executeTakeFirst()
  return row?.n ?? 0
}

/** Ids of the crates that depend on a name, by their names; each with its newest version. */
export async function listDependents(
  database: Database,
  dependency: CanonicalName,
  slice: Slice,
): Promise<number[]> {
  const rows = await database
    .selectFrom('dependents')
    .select('crate_id')
    .where('dependency', '=', dependency)
    .orderBy('dependent')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute()
  return rows.map(row => row.crate_id)
}
