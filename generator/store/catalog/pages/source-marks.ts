import type { Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import { first, type Queries } from '../../database/statement.ts'
import { MARK, type Mark, type MarkSubject } from '../marks.ts'

/** The mark of a release's source, with what names its pages. */
export type SourceMark = Mark & { readonly name: Name; readonly version: Version }

/**
 * Returns the `source` mark of the release that a page shows, which links to its source; null if it
 * has none, if it failed before, or if its `.crate` has more than `bytes`.
 */
export function sourceMarkFor(
  db: Queries,
  { kind, subject }: MarkSubject,
  bytes: number,
): Promise<SourceMark | null> {
  const shown = kind === 'page' ? '(SELECT newest_id FROM listings WHERE crate_id = ?)' : '?'
  return first(
    db,
    `SELECT ${MARK}, crates.name, releases.version
      FROM marks JOIN releases ON releases.id = marks.subject
      JOIN crates ON crates.id = releases.crate_id
      WHERE marks.kind = 'source' AND marks.subject = ${shown}
        AND marks.retry_at IS NULL AND releases.size <= ?`,
    subject,
    bytes,
  )
}
