import type { Version } from '../../../core/version.ts'
import type { Database, MarkKind } from '../database/database.ts'
import type { Mark, Queries } from './record.ts'

/**
 * The fact that says that somebody keeps the git index. Without it nothing is marked for it: marks that nobody takes off
 * would become as many as crates. Who begins to keep it begins with all crates.
 */
export const GIT_FOLLOWED = 'git_followed'

/** A release whose `.crate` is not yet shown in the public tree. */
export type FileMark = Mark & { readonly version: Version; readonly cksum: string }

/** Most marks of one statement. */
const CHUNK = 500

/** Pending work of one kind, oldest first: a page of what was marked after a generation. */
export async function listMarks(
  database: Database,
  kind: MarkKind,
  after: number,
  limit: number,
): Promise<Mark[]> {
  return database
    .selectFrom('marks')
    .selectAll()
    .where('kind', '=', kind)
    .where('generation', '>', after)
    .orderBy('generation')
    .limit(limit)
    .execute()
}

/** How much of each kind of work is pending; kinds without any are left out. */
export async function countMarks(database: Database): Promise<{ kind: MarkKind; n: number }[]> {
  return database
    .selectFrom('marks')
    .select(eb => ['kind', eb.fn.countAll<number>().as('n')])
    .groupBy('kind')
    .execute()
}

/** The `file` marks of one crate's releases. */
export async function fileMarks(database: Database, crateId: number): Promise<FileMark[]> {
  const rows = await database
    .selectFrom('marks')
    .innerJoin('releases', 'releases.id', 'marks.subject')
    .select([
      'marks.kind',
      'marks.subject',
      'marks.generation',
      'releases.version',
      'releases.cksum',
    ])
    .where('marks.kind', '=', 'file')
    .where('releases.crate_id', '=', crateId)
    .execute()
  return rows.map(row => ({ ...row, version: row.version as Version }))
}

/** Takes a mark off, unless the subject has changed again since it was read. */
export async function clearMarks(database: Database, marks: readonly Mark[]): Promise<void> {
  if (marks.length === 0) return
  await database.transaction().execute(async tx => {
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

/** Records that a crate has changed: its generation, and the marks of its index file. */
export async function touch(tx: Queries, crateId: number, generation: number): Promise<void> {
  await tx.updateTable('crates').set({ generation }).where('id', '=', crateId).execute()
  await mark(tx, { kind: 'index', subject: crateId, generation })
  const followed = await tx
    .selectFrom('facts')
    .select('key')
    .where('key', '=', GIT_FOLLOWED)
    .executeTakeFirst()
  if (followed) await mark(tx, { kind: 'git', subject: crateId, generation })
}

/** Sets one mark. */
export async function mark(tx: Queries, one: Mark): Promise<void> {
  await tx
    .insertInto('marks')
    .values(one)
    .onConflict(conflict =>
      conflict.columns(['kind', 'subject']).doUpdateSet({ generation: one.generation }),
    )
    .execute()
}

/** Sets the marks of one kind; subjects may be there twice. */
export async function markAll(
  tx: Queries,
  kind: MarkKind,
  subjects: readonly number[],
  generation: number,
): Promise<void> {
  const all = [...new Set(subjects)]
  for (let at = 0; at < all.length; at += CHUNK) {
    await tx
      .insertInto('marks')
      .values(all.slice(at, at + CHUNK).map(subject => ({ kind, subject, generation })))
      .onConflict(conflict => conflict.columns(['kind', 'subject']).doUpdateSet({ generation }))
      .execute()
  }
}
