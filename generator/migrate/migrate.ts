import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { DATABASE_FILE, type Registry, serveLock } from '../registry.ts'
import { type CopyProgress, copyCatalog } from '../store/database/copy.ts'
import { describeDaemon, listDaemons } from '../store/database/daemons.ts'
import { type Database, openDatabase } from '../store/database/database.ts'
import { isOnServer } from '../store/database/engine.ts'
import { value } from '../store/database/statement.ts'
import { temporaryPath } from '../store/disk/steps.ts'
import { syncFile, syncFolder } from '../store/durable-file.ts'

/**
 * Copies the records of a registry to the PostgreSQL database of `target`, or from there into a
 * file if `target` has no URL. Refuses while a daemon serves the registry; other changes wait. The
 * copy is compared with the records and is complete or not there; the records stay as they were.
 * Returns the number of rows.
 */
export async function migrate(
  registry: Registry,
  target: Settings['database'],
  progress?: CopyProgress,
): Promise<number> {
  const { dir } = registry
  const lock = serveLock(dir)
  if (!lock.tryAcquire('`plimsoll migrate`')) refuse('serve_locked', { dir, holder: lock.holder() })
  try {
    const [daemon] = await listDaemons(registry.database)
    if (daemon) refuse('serve_locked', { dir, holder: describeDaemon(daemon) })
    const { url } = target
    if (url === null) return await intoFile(registry, progress)
    const { openPostgres } = await import('../store/database/postgres/open.ts')
    return await copyInto(registry.database, await openPostgres({ ...target, url }), progress)
  } finally {
    lock.release()
  }
}

async function intoFile({ database, dir }: Registry, progress?: CopyProgress): Promise<number> {
  const file = join(dir, DATABASE_FILE)
  // A log without its database would be applied to the next one.
  const isThere = existsSync(file) || existsSync(`${file}-wal`)
  if (isThere || !isOnServer(database)) refuse('migrate_file_exists', { file })
  const temporary = temporaryPath(file)
  try {
    const count = await copyInto(database, await openDatabase(temporary), progress)
    await syncFile(temporary)
    await rename(temporary, file)
    await syncFolder(dir)
    return count
  } finally {
    for (const end of ['', '-wal', '-shm']) await rm(`${temporary}${end}`, { force: true })
  }
}

/** Copies in one transaction of both databases, and closes the new one. */
async function copyInto(from: Database, to: Database, progress?: CopyProgress): Promise<number> {
  try {
    const count = await from
      .transaction()
      .execute(source => to.transaction().execute(copy => copyCatalog(source, copy, progress)))
    // The file has to be complete without its log.
    const text = 'PRAGMA wal_checkpoint(TRUNCATE)'
    if (!isOnServer(to) && (await value<number>(to, text)) !== 0)
      throw new Error('the copy is in use')
    return count
  } finally {
    await to.destroy()
  }
}
