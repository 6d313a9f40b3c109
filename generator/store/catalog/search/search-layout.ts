import { sql } from 'kysely'
import { HASH_BITS } from '../../../../core/search/buckets.ts'
import type { Database } from '../../database/database.ts'
import type { Queries } from '../change.ts'
import { readFact, writeFact } from '../facts.ts'
import { MARK, type Mark } from '../marks.ts'

/**
 * Over how many files, as a power of two, the terms of the search are spread in the public tree.
 */
export interface Layout {
  /** The layout that readers use; null before there is any. */
  readonly now: number | null
  /** The layout whose files are being written, one after the other; null when there is none. */
  readonly next: number | null
}

const FACT = 'search_bits'

/** How the terms are spread over files. */
export async function readLayout(db: Queries): Promise<Layout> {
  const value = await readFact(db, FACT)
  return value === null ? { now: null, next: null } : (JSON.parse(value) as Layout)
}

/**
 * Marks every bucket of a layout to be written, instead of one under way; `finishLayout` ends it.
 */
export async function beginLayout(database: Database, next: number): Promise<void> {
  await database.transaction().execute(async tx => {
    const { now } = await readLayout(tx)
    await writeFact(tx, FACT, JSON.stringify({ now, next } satisfies Layout))
    await tx.deleteFrom('marks').where('kind', '=', 'spread').execute()
    await sql`WITH RECURSIVE bucket (n) AS
      (SELECT 0 UNION ALL SELECT n + 1 FROM bucket WHERE n + 1 < ${2 ** next})
      INSERT INTO marks (kind, subject, generation)
      SELECT 'spread', n, (SELECT coalesce(max(id), 0) FROM audit) FROM bucket`.execute(tx)
  })
}

/** From now on readers use this layout. */
export async function finishLayout(db: Queries, now: number): Promise<void> {
  await writeFact(db, FACT, JSON.stringify({ now, next: null } satisfies Layout))
}

/** Whether no bucket of the next layout besides these is still to be written. */
export async function isLastBucket(db: Queries, buckets: readonly number[]): Promise<boolean> {
  const other = await db
    .selectFrom('marks')
    .select('subject')
    .where('kind', '=', 'spread')
    .where('subject', 'not in', buckets)
    .limit(1)
    .executeTakeFirst()
  return other === undefined
}

/** The marks of the terms of a bucket. */
export async function searchMarksOf(db: Queries, bits: number, bucket: number): Promise<Mark[]> {
  const width = 2 ** (HASH_BITS - bits)
  return db
    .selectFrom('marks')
    .select(MARK)
    .where('kind', '=', 'search')
    .where('subject', '>=', bucket * width)
    .where('subject', '<', (bucket + 1) * width)
    .execute()
}
