import type { Contents } from '../../../core/tarball/contents.ts'
import type { Database } from '../../database/connection.ts'
import { all, type Queries, type Row, run } from '../../database/statement.ts'

/** A release of an older program version, which did not count the contents of packages. */
export type Uncounted = Pick<Row<'releases'>, 'id' | 'cksum' | 'size'>

/** Returns at most `limit` releases of a crate whose contents were never counted. */
export function listUncounted(db: Queries, crateId: number, limit: number): Promise<Uncounted[]> {
  const sql = `SELECT id, cksum, size FROM releases
    WHERE crate_id = ? AND contents IS NULL ORDER BY id LIMIT ?`
  return all(db, sql, crateId, limit)
}

/** Stores the contents of releases; null for archives that cannot be read. */
export async function writeContents(
  database: Database,
  counted: ReadonlyMap<number, Contents | null>,
): Promise<void> {
  await database.transaction(async tx => {
    const sql = 'UPDATE releases SET contents = ? WHERE id = ?'
    for (const [id, contents] of counted) await run(tx, sql, JSON.stringify(contents), id)
  })
}
