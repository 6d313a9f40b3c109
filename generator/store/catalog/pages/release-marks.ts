import type { Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import { first, type Queries } from '../../database/statement.ts'
import { MARK, type Mark } from '../marks.ts'

/** The mark of a release, with what names its pages. */
export type ReleaseMark = Mark & { readonly name: Name; readonly version: Version }

/** Returns the mark of a crate's newest release; null if it has none, or if it failed before. */
export function newestReleaseMark(db: Queries, crateId: number): Promise<ReleaseMark | null> {
  return first(
    db,
    `SELECT ${MARK}, crates.name, releases.version
      FROM marks JOIN releases ON releases.id = marks.subject
      JOIN crates ON crates.id = releases.crate_id
      WHERE marks.kind = 'release' AND marks.retry_at IS NULL
        AND marks.subject = (SELECT newest_id FROM listings WHERE crate_id = ?)`,
    crateId,
  )
}
