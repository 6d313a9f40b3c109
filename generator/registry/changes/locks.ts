import { refusalOnly } from '../../../core/error/error.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { all, run } from '../../database/statement.ts'
import type { Progress } from '../../projections/context.ts'
import { lastChange, marksOf, setMarks } from '../../records/marks.ts'
import type { ReleaseOfBytes } from '../../records/releases-stored.ts'
import { adoptArchive, archiveLimits } from '../../sandbox/sandbox.ts'
import type { Registry } from '../registry.ts'

/**
 * Reads the lock files of releases that were recorded before these were read, and marks what they
 * change. One whose `.crate` is missing waits for the next time; one that nobody can read has none.
 */
export async function readLocks(registry: Registry, progress?: Progress): Promise<void> {
  const { crates, database, settings, urls } = registry
  const sql = `SELECT releases.id, crate_id AS "crateId", crates.name, version, cksum, size
    FROM releases JOIN crates ON crates.id = crate_id
    WHERE locked IS NULL AND releases.id > ? ORDER BY releases.id LIMIT 500`
  type Unread = ReleaseOfBytes & { readonly size: number }
  let done = 0
  for (let last = 0; ; ) {
    const page = await all<Unread>(database, sql, last)
    if (page.length === 0) return
    for (const { id, crateId, cksum, size, ...identity } of page) {
      last = id
      progress?.('reading lock files', ++done, done)
      const file = await crates.localFile(crateKey(identity.name, cksum))
      if (!file) continue
      const limits = archiveLimits(settings, size)
      const parts = { identity, entry: null, cksum, size, limits, own: urls.own }
      const read = await adoptArchive(file.path, parts).catch(refusalOnly)
      const locked = 'release' in read ? read.release.locked : []
      await database.transaction(async tx => {
        await run(tx, 'UPDATE releases SET locked = ? WHERE id = ?', JSON.stringify(locked), id)
        if (locked.length > 0)
          await setMarks(tx, marksOf('dependents', [crateId]), await lastChange(tx))
      })
    }
  }
}
