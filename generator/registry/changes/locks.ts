import { refusalOnly } from '../../../core/error/error.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import type { Progress } from '../../projections/context.ts'
import { lastChange, marksOf, setMarks } from '../../records/marks.ts'
import { unreadLocks, writeLock } from '../../records/releases-stored.ts'
import { adoptArchive, archiveLimits } from '../../sandbox/sandbox.ts'
import type { Registry } from '../registry.ts'

/**
 * Reads the lock files of releases that were recorded before these were read, and marks what they
 * change. One whose `.crate` is missing waits for the next time; one that nobody can read has none.
 */
export async function readLocks(registry: Registry, progress?: Progress): Promise<void> {
  const { crates, database, settings, urls } = registry
  let done = 0
  for (let last = 0; ; ) {
    const page = await unreadLocks(database, last)
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
        await writeLock(tx, id, locked)
        if (locked.length > 0)
          await setMarks(tx, marksOf('dependents', [crateId]), await lastChange(tx))
      })
    }
  }
}
