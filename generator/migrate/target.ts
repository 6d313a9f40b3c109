import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { withoutCredentials } from '../../core/urls/urls.ts'
import type { Database } from '../database/connection.ts'
import { continueIds, isEmpty } from '../database/copy.ts'
import { closeWhole, openDatabase } from '../database/database.ts'
import { isOnServer } from '../database/engine.ts'
import { syncFolder } from '../places/disk/durable.ts'
import { readCopy, readDeparture, recordCopy } from '../records/departure.ts'
import { DATABASE_FILE } from '../registry/folder.ts'
import type { Registry } from '../registry/registry.ts'

export interface Target {
  readonly database: Database
  /**
   * Lets the registry be opened with the copy `id` of its records; once is enough. Refuses another
   * copy.
   */
  finish(id: string): Promise<void>
  close(): Promise<void>
}

/** Returns where a database is, without credentials. */
export function placeOf(dir: string, { url }: Settings['database']): string {
  return url === null ? join(dir, DATABASE_FILE) : withoutCredentials(url)
}

/**
 * Opens the database that records are moved to; null when they are in use there. Refuses one with
 * records, except those of an unfinished copy, and those that were moved away. `hasMoved`: it has
 * the whole copy.
 */
export async function openTarget(
  registry: Registry,
  settings: Settings['database'],
  hasMoved: boolean,
): Promise<Target | null> {
  const { url } = settings
  if (url === null) return fileTarget(registry, hasMoved)
  const { openPostgres } = await import('../database/postgres/open.ts')
  // A copy may take its time.
  const database = await openPostgres({ ...settings, url, statement_seconds: 0 })
  try {
    const isOurs = hasMoved || (await readCopy(database)) || (await readDeparture(database))
    if (!isOurs && !(await isEmpty(database))) refuse('migrate_not_empty')
  } catch (error) {
    await database.close()
    throw error
  }
  return { database, finish: id => finishing(database, id), close: () => database.close() }
}

async function fileTarget({ database, dir }: Registry, hasMoved: boolean): Promise<Target | null> {
  const file = join(dir, DATABASE_FILE)
  const copy = `${file}.copy`
  if (!isOnServer(database)) refuse('migrate_file_exists', { file })
  if (hasMoved && !existsSync(copy))
    return existsSync(file) ? null : refuse('records_missing', { dir, file })
  if (existsSync(file) || existsSync(`${file}-wal`)) await requireMoved(file)
  if (!hasMoved) for (const end of ['', '-wal', '-shm']) await rm(`${copy}${end}`, { force: true })
  const to = await openDatabase(copy)
  let isOpen = true
  return {
    database: to,
    finish: async id => {
      await finishing(to, id)
      await closeWhole(to, copy)
      isOpen = false
      await rename(copy, file)
      await syncFolder(dir)
    },
    close: async () => {
      if (isOpen) await to.close()
    },
  }
}

/** Refuses a file of records that are in use; completes it, so that it can be replaced. */
async function requireMoved(file: string): Promise<void> {
  const before = await openDatabase(file)
  if ((await readDeparture(before)) !== null) return closeWhole(before, file)
  await before.close()
  refuse('migrate_file_exists', { file })
}

async function finishing(database: Database, id: string): Promise<void> {
  await database.transaction(async tx => {
    const copy = await readCopy(tx)
    if (copy === null) return
    if (copy.id !== id) refuse('migrate_not_empty')
    if (isOnServer(tx)) await continueIds(tx)
    await recordCopy(tx, null)
  })
}
