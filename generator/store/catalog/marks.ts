import type { Version } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import type { MarkKind } from '../database/mark-kinds.ts'
import { all, type Queries, run, value } from '../database/statement.ts'
import type { CrateRecord } from './crates.ts'

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

/** How many marks of a kind there are. */
export interface MarkCount {
  readonly kind: MarkKind
  readonly n: number
}

/** The columns of a mark. */
export const MARK = 'marks.kind, marks.subject, marks.generation'

/**
 * The fact that a git index is kept; without one nothing would clear its marks, so none are set.
 */
export const GIT_FOLLOWED = 'git_followed'

/** Pending work of one kind, oldest first: a page of what was marked after a generation. */
export function listMarks(db: Queries, kind: MarkKind, after = 0, limit = 1000): Promise<Mark[]> {
  return all(
    db,
    `SELECT ${MARK} FROM marks WHERE kind = ? AND generation > ? ORDER BY generation LIMIT ?`,
    kind,
    after,
    limit,
  )
}

/** The `file` marks of one crate's releases. */
export function fileMarks(db: Queries, crateId: number): Promise<FileMark[]> {
  return all(
    db,
    `SELECT ${MARK}, releases.version, releases.cksum
      FROM marks JOIN releases ON releases.id = marks.subject
      WHERE marks.kind = 'file' AND releases.crate_id = ?`,
    crateId,
  )
}

/** Whether a mark is set: its subject has changes that are not rendered yet. */
export async function isMarked(db: Queries, { kind, subject }: MarkSubject): Promise<boolean> {
  const text = 'SELECT 1 FROM marks WHERE kind = ? AND subject = ?'
  return (await value(db, text, kind, subject)) !== null
}

/** How much of each kind of work is pending; kinds without any are left out. */
export function countMarks(db: Queries): Promise<MarkCount[]> {
  return all(db, 'SELECT kind, count(*) AS n FROM marks GROUP BY kind')
}

/** Takes marks off, unless their subjects have changed again since they were read. */
export async function clearMarks(db: Database, marks: readonly Mark[]): Promise<void> {
  if (marks.length === 0) return
  await run(
    db,
    `DELETE FROM marks WHERE (kind, subject) IN (
      SELECT marks.kind, marks.subject FROM json_each(?) AS done JOIN marks
        ON marks.kind = done.value ->> 'kind' AND marks.subject = done.value ->> 'subject'
        WHERE marks.generation <= done.value ->> 'generation')`,
    marks,
  )
}

/** Sets marks; one may be there twice. Those of the git index are only set where one is kept. */
export async function setMarks(
  tx: Queries,
  marks: readonly MarkSubject[],
  generation: number,
): Promise<void> {
  await run(
    tx,
    `INSERT INTO marks (kind, subject, generation)
      SELECT DISTINCT value ->> 'kind', value ->> 'subject', ? FROM json_each(?)
      WHERE value ->> 'kind' <> 'git'
        OR EXISTS (SELECT 1 FROM facts WHERE key = '${GIT_FOLLOWED}')
      ON CONFLICT (kind, subject) DO UPDATE SET generation = excluded.generation,
        attempts = 0, retry_at = NULL, error = NULL`,
    generation,
    marks,
  )
}

/** Marks of one kind. */
export function marksOf(kind: MarkKind, subjects: Iterable<number>): MarkSubject[] {
  return Array.from(subjects, subject => ({ kind, subject }))
}

/** Records that a crate has changed: its generation, the marks of its index file, and `marks`. */
export async function touchCrate(
  tx: Queries,
  { id, generation: before }: Pick<CrateRecord, 'id' | 'generation'>,
  marks: readonly MarkSubject[],
  generation: number,
): Promise<void> {
  if (before !== generation)
    await run(tx, 'UPDATE crates SET generation = ? WHERE id = ?', generation, id)
  const index = [
    { kind: 'index', subject: id },
    { kind: 'git', subject: id },
  ] as const
  await setMarks(tx, [...index, ...marks], generation)
}

/** Marks the page of a crate whose owners have changed, which are in no release. */
export function markCratePage(tx: Queries, crateId: number, generation: number): Promise<void> {
  return setMarks(tx, [{ kind: 'page', subject: crateId }], generation)
}
