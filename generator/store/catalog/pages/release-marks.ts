import type { Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import { first, type Queries } from '../../database/statement.ts'
import { MARK, type Mark, type MarkSubject } from '../marks.ts'

/** A mark of a release, with what names its pages. */
export type ReleaseMark = Mark & { readonly name: Name; readonly version: Version }

/**
 * Returns the mark of a kind of the release that a page shows; null if it has none, if it failed
 * before, or if its `.crate` has more than `bytes`.
 */
export function releaseMarkFor(
  db: Queries,
  of: 'release' | 'source',
  { kind, subject }: MarkSubject,
  bytes = Number.MAX_SAFE_INTEGER,
): Promise<ReleaseMark | null> {
  const shown = kind === 'page' ? '(SELECT newest_id FROM listings WHERE crate_id = ?)' : '?'
  return first(
    db,
    `SELECT ${MARK}, crates.name, releases.version
      FROM marks JOIN releases ON releases.id = marks.subject
      JOIN crates ON crates.id = releases.crate_id
      WHERE marks.kind = ? AND marks.subject = ${shown}
        AND marks.retry_at IS NULL AND releases.size <= ?`,
    of,
    subject,
    bytes,
  )
}
