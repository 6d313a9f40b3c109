import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import { lookAlikeSkeleton } from '../../../core/policy/look-alike.ts'
import { inChunks } from '../database/chunks.ts'
import type { Change, Queries } from './change.ts'
import { addOwner } from './owners.ts'

/** A crate of the catalog. `generation` grows with every change of it. */
export interface CrateRecord {
  readonly id: number
  readonly name: Name
  readonly createdAt: string
  readonly generation: number
}

/** The crate that `name` means: by canonical form, so `foo-bar` finds `Foo_Bar`. */
export async function findCrate(db: Queries, name: Name): Promise<CrateRecord | null> {
  const row = await db
    .selectFrom('crates')
    .selectAll()
    .where('canonical', '=', canonicalName(name))
    .executeTakeFirst()
  return row ? crateRecord(row) : null
}

/** A crate by its id. */
export async function readCrate(db: Queries, id: number): Promise<CrateRecord | null> {
  const row = await db.selectFrom('crates').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? crateRecord(row) : null
}

/** Every crate in the order of their ids, read in pages so that memory does not grow with them. */
export async function* eachCrate(db: Queries): AsyncIterable<CrateRecord> {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('crates')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(500)
      .execute()
    yield* rows.map(crateRecord)
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}

/** The crates that `names` mean, as they are spelled here. */
export async function knownNames(
  db: Queries,
  names: readonly Name[],
): Promise<Map<CanonicalName, Name>> {
  const found = new Map<CanonicalName, Name>()
  for (const part of inChunks([...new Set(names.map(canonicalName))])) {
    const rows = await db
      .selectFrom('crates')
      .select(['canonical', 'name'])
      .where('canonical', 'in', part)
      .execute()
    for (const row of rows) found.set(row.canonical as CanonicalName, row.name as Name)
  }
  return found
}

/** Existing crates that one of the policy's look-alike keys leads to; at most 10. */
export async function findLookAlikes(db: Queries, keys: readonly string[]): Promise<Name[]> {
  const rows = await db
    .selectFrom('crates')
    .select('name')
    .where('skeleton', 'in', keys)
    .orderBy('id')
    .limit(10)
    .execute()
  return rows.map(row => row.name as Name)
}

/** Counts for people. */
export async function registryCounts(
  db: Queries,
): Promise<{ crates: number; releases: number; users: number; pending: number }> {
  const rows = await db.selectFrom('counts').selectAll().execute()
  const kept = (what: string) => rows.find(row => row.what === what)?.n ?? 0
  const counted = async (table: 'users' | 'marks') =>
    (await db.selectFrom(table).select(db.fn.countAll<number>().as('n')).executeTakeFirst())?.n ?? 0
  return {
    crates: kept('crates'),
    releases: kept('releases'),
    users: await counted('users'),
    pending: await counted('marks'),
  }
}

/** A new crate; its publisher becomes its first owner. */
export async function insertCrate(tx: Queries, name: Name, change: Change): Promise<CrateRecord> {
  const row = await tx
    .insertInto('crates')
    .values({
      name,
      canonical: canonicalName(name),
      skeleton: lookAlikeSkeleton(name),
      created_at: change.at,
      generation: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  if (change.user) await addOwner(tx, row.id, change.user.id, change.at)
  return crateRecord(row)
}

/** The record in a row of the table. */
export function crateRecord(row: {
  id: number
  name: string
  created_at: string
  generation: number
}): CrateRecord {
  const { id, name, created_at, generation } = row
  return { id, name: name as Name, createdAt: created_at, generation }
}
