import { crateKey } from '../../core/paths/crates.ts'
import type { Database } from '../database/connection.ts'
import { all, type Row } from '../database/statement.ts'

/** The top folder inside a backup. */
export const TOP = 'plimsoll-backup'

/** Yields every release with the key of its bytes, read in pages. */
export async function* releasesOf(
  records: Database,
): AsyncIterable<{ key: string; name: string; version: string; cksum: string }> {
  const sql = `SELECT releases.id, crates.name, releases.version, releases.cksum
    FROM releases JOIN crates ON crates.id = releases.crate_id
    WHERE releases.id > ? ORDER BY releases.id LIMIT 1000`
  for (let last = 0; ; ) {
    const page = await all<Row<'releases'> & Pick<Row<'crates'>, 'name'>>(records, sql, last)
    for (const { name, version, cksum } of page) {
      yield { key: crateKey(name, cksum), name, version, cksum }
    }
    if (page.length === 0) return
    last = page.at(-1)?.id ?? last
  }
}
