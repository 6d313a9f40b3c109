import { sql } from 'kysely'
import type { Version } from '../../../core/version.ts'
import { inChunks } from '../database/chunks.ts'
import type { Database } from '../database/database.ts'
import type { MarkKind } from '../database/mark-kinds.ts'
import type { Queries } from './change.ts'

/** Something that is to be rendered. */
export interface MarkSubject {
  readonly kind: MarkKind
  readonly subject: number
}

/** A piece of pending work: what has changed since it was last rendered. */
export interface Mark extends MarkSubject {
  readonly generation: number
}

/** A release whose `.crate` is not yet shown in the public tree. */
export type FileMark = Mark & { readonly version: Version; readonly cksum: string }

/** The columns of a mark. */
export const MARK = ['marks.kind', 'marks.subject', 'marks.generation'] as const

/**
 * The fact that a git index is kept; without one nothing would clear its marks, so none are set.
 */
export const GIT_FOLLOWED = 'git_followed'

/** Pending work of one kind, oldest first: a page of what was marked after a generation. */
export async function listMarks(
  db: Queries,
  kind: MarkKind,
  after = 0,
  limit = 1000,
): Promise<Mark[]> {
  return db
    .selectFrom('marks')
    .select(MARK)
    .where('kind', '=', kind)
    .where('generation', '>', after)
    .orderBy('generation')
    .limit(limit)
    .execute()
}

/** The `file` marks of one crate's releases. */
export async function fileMarks(db: Queries, crateId: number): Promise<FileMark[]> {
  const rows = await db
    .selectFrom('marks')
    .innerJoin('releases', 'releases.id', 'marks.subject')
    .select([...MARK, 'releases.version', 'releases.cksum'])
    .where('marks.kind', '=', 'file')
    .where('releases.crate_id', '=', crateId)
    .execute()
  return rows.map(row => ({ ...row, version: row.version as Version }))
}

/** Whether a mark is set: its subject has changes that are not rendered yet. */
export async function isMarked(db: Queries, { kind, subject }: MarkSubject): Promise<boolean> {
  const row = await db
    .selectFrom('marks')
    .select('generation')
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row !== undefined
}

/** How much of each kind of work is pending; kinds without any are left out. */
export async function countMarks(db: Queries): Promise<{ kind: MarkKind; n: number }[]> {
  return db
    .selectFrom('marks')
    .select(['kind', db.fn.countAll<number>().as('n')])
    .groupBy('kind')
    .execute()
}

/** Takes marks off, unless their subjects have changed again since they were read. */
export async function clearMarks(db: Database, marks: readonly Mark[]): Promise<void> {
  if (marks.length === 0) return
  await db.transaction().execute(async tx => {
    for (const one of marks) {
      await tx
        .deleteFrom('marks')
        .where('kind', '=', one.kind)
        .where('subject', '=', one.subject)
        .where('generation', '<=', one.generation)
        .execute()
    }
  })
}

/** Sets marks; one may be there twice. */
export async function setMarks(
  tx: Queries,
  marks: readonly MarkSubject[],
  generation: number,
): Promise<void> {
  const distinct = new Map(marks.map(one => [`${one.kind} ${one.subject}`, one]))
  for (const part of inChunks([...distinct.values()])) {
    await tx
      .insertInto('marks')
      .values(part.map(({ kind, subject }) => ({ kind, subject, generation })))
      .onConflict(conflict =>
        conflict
          .columns(['kind', 'subject'])
          .doUpdateSet({ generation, attempts: 0, retry_at: null, error: null }),
      )
      .execute()
  }
}

/** Marks of one kind. */
export function marksOf(kind: MarkKind, subjects: Iterable<number>): MarkSubject[] {
  return Array.from(subjects, subject => ({ kind, subject }))
}

/** Records that a crate has changed: its generation, the marks of its index file, and `marks`. */
export async function touchCrate(
  tx: Queries,
  crateId: number,
  marks: readonly MarkSubject[],
  generation: number,
): Promise<void> {
  await tx.updateTable('crates').set({ generation }).where('id', '=', crateId).execute()
  await setMarks(tx, [{ kind: 'index', subject: crateId }, ...marks], generation)
  await sql`INSERT INTO marks (kind, subject, generation)
    SELECT 'git', ${crateId}, ${generation} FROM facts WHERE key = ${GIT_FOLLOWED}
    ON CONFLICT (kind, subject) DO UPDATE SET generation = excluded.generation,
      attempts = 0, retry_at = NULL, error = NULL`.execute(tx)
}

/** Marks the page of a crate whose owners have changed, which are in no release. */
export function markCratePage(tx: Queries, crateId: number, generation: number): Promise<void> {
  return setMarks(tx, [{ kind: 'page', subject: crateId }], generation)
}
