import { sql } from 'kysely'
import { HASH_BITS } from '../../../../core/search/buckets.ts'
import type { Database } from '../../database/database.ts'
import type { Mark, Queries } from '../record.ts'

/** Over how many files, as a power of two, the terms of the search are spread in the public tree. */
export interface Spread {
  /** The layout that readers are told of; null before there is any. */
  readonly now: number | null
  /** The layout whose files are being written, one after the other; null when there is none. */
  readonly next: number | null
}

const FACT = 'search_bits'

/** How the terms are spread. */
export async function readSpread(database: Database): Promise<Spread> {
  const row = await database
    .selectFrom('facts')
    .select('value')
    .where('key', '=', FACT)
    .executeTakeFirst()
  return row ? (JSON.parse(row.value) as Spread) : { now: null, next: null }
}

/** Marks every bucket of a layout to be written; when that is done, `endSpread`. Takes the place of one under way. */
export async function beginSpread(database: Database, next: number): Promise<void> {
  const { now } = await readSpread(database)
  await database.transaction().execute(async tx => {
    await writeSpread(tx, { now, next })
    await tx.deleteFrom('marks').where('kind', '=', 'spread').execute()
    await sql`WITH RECURSIVE bucket (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM bucket WHERE n + 1 < ${2 ** next})
      INSERT INTO marks (kind, subject, generation)
      SELECT 'spread', n, (SELECT coalesce(max(id), 0) FROM audit) FROM bucket`.execute(tx)
  })
}

/** Readers are told of this layout now. */
export async function endSpread(database: Database, now: number): Promise<void> {
  await writeSpread(database, { now, next: null })
}

async function writeSpread(tx: Queries, spread: Spread): Promise<void> {
  const value = JSON.stringify(spread)
  await tx
    .insertInto('facts')
    .values({ key: FACT, value })
    .onConflict(conflict => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

/** Whether no other bucket than these is yet to be written. */
export async function isLastOfSpread(
  database: Database,
  buckets: readonly number[],
): Promise<boolean> {
  const other = await database
    .selectFrom('marks')
    .select('subject')
    .where('kind', '=', 'spread')
    .where('subject', 'not in', buckets)
    .limit(1)
    .executeTakeFirst()
  return other === undefined
}

/** The marks of the terms of a bucket. */
export async function searchMarksOf(
  database: Database,
  bits: number,
  bucket: number,
): Promise<Mark[]> {
  const width = 2 ** (HASH_BITS - bits)
  return database
    .selectFrom('marks')
    .selectAll()
    .where('kind', '=', 'search')
    .where('subject', '>=', bucket * width)
    .where('subject', '<', (bucket + 1) * width)
    .execute()
}
