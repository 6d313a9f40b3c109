import { type Issue, issue } from '../../core/error/error.ts'
import { after, latest, timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, LIST, type Queries, run, value } from '../database/statement.ts'
import { crateOf, FAILED_MARKS } from './releases-view.ts'

/** Pauses before failed work is tried again; the last one repeats. */
const PAUSES = ['1m', '5m', '30m', '2h', '6h'] as const
const LONGEST_PAUSE_S = 6 * 3600

/** The most failures that are listed; a broken disk causes one for every page. */
const LISTED = 100

/** The most characters of an error message that are kept. */
const ERROR_MAX = 500

/** Something that has to be rendered. */
export interface MarkSubject {
  readonly kind: string
  readonly subject: number
}

/** Pending work: something that has changed since it was last rendered. */
export interface Mark extends MarkSubject {
  readonly generation: number
}

/** The number of marks of a kind. */
export interface MarkCount {
  readonly kind: string
  readonly n: number
}

/** The columns of a mark. */
export const MARK = 'marks.kind, marks.subject, marks.generation'

/** The subject of marks that are about the registry itself. */
export const SITE = 0

/** A mark, with the number of versions if its subject is a crate. */
export type SizedMark = Mark & { readonly versions: number }

/** Returns the last subject that has a mark of a kind; 0 if none has one. */
export async function lastMarked(db: Queries, kind: string): Promise<number> {
  return (await value<number>(db, 'SELECT max(subject) FROM marks WHERE kind = ?', kind)) ?? 0
}

/** Lists at most 1,000 marks of the subjects after `above`, up to `last`, in their order. */
export function listMarksAfter(db: Queries, kind: string, above: number, last: number) {
  const sql = `SELECT ${MARK}, coalesce(listings.versions, 0) AS versions
    FROM marks LEFT JOIN listings ON listings.crate_id = marks.subject
    WHERE marks.kind = ? AND marks.subject > ? AND marks.subject <= ?
    ORDER BY marks.subject LIMIT 1000`
  return all<SizedMark>(db, sql, kind, above, last)
}

/** Returns whether a mark is set: its subject has changes that are not rendered yet. */
export async function isMarked(db: Queries, { kind, subject }: MarkSubject): Promise<boolean> {
  const sql = 'SELECT 1 FROM marks WHERE kind = ? AND subject = ?'
  return (await value(db, sql, kind, subject)) !== null
}

/** Changes by number: those after one, up to another. */
export type ChangeRange = readonly [after: number, upTo: number]

/** A kind of marks, and what its subjects are, where each is about one crate. */
export interface MarkKind {
  readonly kind: string
  readonly of?: 'crate' | 'release'
  /** Its marks are due only when the index of their crate shows the change, and is on disk. */
  readonly after?: 'index'
}

/** Returns at most `limit` due marks in the order of `kinds`, without changes to `skip`. */
export function dueMarks(
  db: Queries,
  kinds: readonly MarkKind[],
  now: Date,
  limit: number,
  skip: ChangeRange = [0, 0],
): Promise<Mark[]> {
  // A range of the primary key for each kind: neither side sorts all that is marked.
  const sql = `SELECT ${MARK} FROM json_each(?) AS wanted
    JOIN marks ON marks.kind = wanted.value ->> 1
    AND marks.subject IN (SELECT due.subject FROM marks AS due
      WHERE due.kind = wanted.value ->> 1
        AND (due.retry_at IS NULL OR due.retry_at <= ? OR due.retry_at > ?)
        AND NOT (due.generation > ? AND due.generation <= ?)
        AND NOT EXISTS (SELECT 1 FROM marks AS behind WHERE behind.kind = 'index'
          AND behind.subject = CASE wanted.value ->> 2 WHEN 'crate' THEN due.subject
            WHEN 'release' THEN ${crateOf('due.subject')} END)
      ORDER BY due.subject LIMIT ?)
    ORDER BY CAST(wanted.value ->> 0 AS INTEGER), marks.subject LIMIT ?`
  return all(
    db,
    sql,
    kinds.map(({ kind, of = '', after }, at) => [at, kind, after ? of : '']),
    timestamp(now),
    latest(now, LONGEST_PAUSE_S),
    ...skip,
    limit,
    limit,
  )
}

/** Returns the marks that are still set, as they are now. */
export async function currentMarks(db: Queries, subjects: readonly MarkSubject[]): Promise<Mark[]> {
  const sql = `SELECT ${MARK} FROM json_each(?) AS wanted JOIN marks
    ON marks.kind = wanted.value ->> 'kind'
      AND marks.subject = CAST(wanted.value ->> 'subject' AS INTEGER)`
  const now = await all<Mark>(db, sql, subjects)
  const current = new Map(now.map(mark => [`${mark.kind} ${mark.subject}`, mark]))
  return subjects.flatMap(({ kind, subject }) => current.get(`${kind} ${subject}`) ?? [])
}

/** Counts the pending work of some kinds, at most `most` of each; skips those without any. */
export async function countMarks(
  db: Queries,
  kinds: readonly string[],
  most = Number.MAX_SAFE_INTEGER,
): Promise<MarkCount[]> {
  const sql = 'SELECT count(*) FROM (SELECT 1 FROM marks WHERE kind = ? LIMIT ?) AS part'
  const counts: MarkCount[] = []
  for (const kind of kinds) {
    const n = (await value<number>(db, sql, kind, most)) ?? 0
    if (n > 0) counts.push({ kind, n })
  }
  return counts
}

async function clearMarks(tx: Queries, marks: readonly Mark[]): Promise<void> {
  const sql = `DELETE FROM marks WHERE (kind, subject) IN (
    SELECT marks.kind, marks.subject FROM json_each(?) AS done JOIN marks
      ON marks.kind = done.value ->> 'kind' AND marks.subject = CAST(done.value ->> 'subject' AS INTEGER)
      WHERE marks.generation <= CAST(done.value ->> 'generation' AS INTEGER))`
  await run(tx, sql, marks)
}

/**
 * Clears marks whose files are on disk, unless their subjects have changed again since the marks
 * were read, and marks what has to be rendered again, at once; `onSettled` may set further marks in
 * the same transaction, so that no reader sees an empty queue.
 */
export async function settleMarks(
  db: Database,
  done: readonly Mark[],
  again: readonly MarkSubject[] = [],
  onSettled?: (tx: Queries) => Promise<void>,
): Promise<void> {
  const settle = async (tx: Queries) => {
    await clearMarks(tx, done)
    if (again.length > 0) await setMarks(tx, again, await lastChange(tx))
    await onSettled?.(tx)
  }
  // A mark that comes back has its files rendered once more.
  await db.transaction(settle, 'later')
}

/** Sets marks; `marks` may contain duplicates. */
export async function setMarks(
  tx: Queries,
  marks: readonly MarkSubject[],
  generation: number,
): Promise<void> {
  const sql = `INSERT INTO marks (kind, subject, generation)
    SELECT DISTINCT value ->> 'kind', CAST(value ->> 'subject' AS INTEGER), CAST(? AS INTEGER)
      FROM json_each(?) WHERE true
    ON CONFLICT (kind, subject) DO UPDATE SET generation = excluded.generation,
      attempts = 0, retry_at = NULL, error = NULL`
  await run(tx, sql, generation, marks)
}

/** Marks the subjects, with their generations, that a statement selects; existing marks stay. */
export function markSelected(
  tx: Queries,
  kind: string,
  select: string,
  ...parameters: (readonly number[])[]
): Promise<number> {
  const sql = `INSERT INTO marks (kind, subject, generation)
    SELECT ?, subject, generation FROM (${select}) AS selected WHERE true ON CONFLICT DO NOTHING`
  return run(tx, sql, kind, ...parameters)
}

/** Returns marks of one kind. */
export function marksOf(kind: string, subjects: Iterable<number>): MarkSubject[] {
  return Array.from(subjects, subject => ({ kind, subject }))
}

/** Sets marks so that their subjects are rendered again in their current state. */
export async function markAgain(db: Database, marks: readonly MarkSubject[]): Promise<void> {
  await db.transaction(async tx => setMarks(tx, marks, await lastChange(tx)))
}

/** Returns the number of the last change, from which new marks get their generation. */
export async function lastChange(db: Queries): Promise<number> {
  return (await value<number>(db, 'SELECT max(id) FROM audit')) ?? 0
}

/** Returns whether marks of these kinds are due that were set up to a change. */
export async function hasMarksUpTo(
  db: Queries,
  kinds: readonly string[],
  change: number,
  at: string,
): Promise<boolean> {
  const sql = `SELECT 1 FROM marks WHERE kind IN ${LIST}
    AND generation <= ? AND (retry_at IS NULL OR retry_at <= ? OR retry_at > ?) LIMIT 1`
  const far = latest(new Date(at), LONGEST_PAUSE_S)
  return (await value(db, sql, kinds, change, at, far)) !== null
}

/** Work that failed, and when it will be tried again. */
export interface FailedMark {
  readonly kind: string
  readonly crate: string | null
  readonly version: string | null
  readonly attempts: number
  readonly retryAt: string
  readonly error: string
}

/** Records that the work of a mark failed and postpones it; a mark renewed since is due at once. */
export async function postponeMark(
  db: Queries,
  { kind, subject, generation }: Mark,
  error: unknown,
  now: Date,
): Promise<void> {
  const before = 'SELECT attempts FROM marks WHERE kind = ? AND subject = ?'
  const attempts = ((await value<number>(db, before, kind, subject)) ?? 0) + 1
  const pause = PAUSES[Math.min(attempts, PAUSES.length) - 1] ?? PAUSES[0]
  const text = error instanceof Error ? error.message : String(error)
  const sql = `UPDATE marks SET attempts = ?, retry_at = ?, error = ?
    WHERE kind = ? AND subject = ? AND generation <= ?`
  await run(
    db,
    sql,
    attempts,
    timestamp(after(now, pause)),
    text.slice(0, ERROR_MAX),
    kind,
    subject,
    generation,
  )
}

/** Makes all failed work due at once. */
export async function retryAll(db: Queries): Promise<void> {
  await run(db, 'UPDATE marks SET retry_at = NULL WHERE retry_at IS NOT NULL')
}

/** Returns when the next failed work is due; null when none is waiting. */
export async function nextRetry(db: Queries): Promise<Date | null> {
  const sql = 'SELECT min(retry_at) FROM marks WHERE retry_at IS NOT NULL'
  const at = await value<string>(db, sql)
  return at === null ? null : new Date(at)
}

/** Counts the failed work of some kinds; skips those without any. */
export function countFailedMarks(db: Queries, kinds: readonly string[]): Promise<MarkCount[]> {
  const sql = `SELECT kind, count(*) AS n FROM marks
    WHERE retry_at IS NOT NULL AND kind IN ${LIST} GROUP BY kind`
  return all(db, sql, kinds)
}

/**
 * Lists at most 100 pieces of failed work that will be tried again, the soonest first. `kinds` says
 * what the subjects of marks are.
 */
export function listFailedMarks(db: Queries, kinds: readonly MarkKind[]): Promise<FailedMark[]> {
  const kindsOf = (of: string) => kinds.flatMap(kind => (kind.of === of ? [kind.kind] : []))
  return all(db, FAILED_MARKS, kindsOf('release'), kindsOf('crate'), LISTED)
}

/** Returns failed work as issues. */
export function failedIssues(failed: readonly FailedMark[]): Issue[] {
  return failed.map(mark => {
    const of = [mark.crate, mark.version].filter(part => part !== null).join(' ')
    return issue('page_failed', { kind: mark.kind, of, reason: mark.error })
  })
}
