import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { withoutCredentials } from '../../core/urls.ts'
import { DATABASE_FILE, type Registry } from '../registry.ts'
import { continueIds } from '../store/database/copy.ts'
import { closeWhole, type Database, openDatabase } from '../store/database/database.ts'
import { isOnServer } from '../store/database/engine.ts'
import { forgetMove, type Move, readMove } from '../store/database/moves/move.ts'
import type { Queries } from '../store/database/statement.ts'
import { syncFolder } from '../store/durable-file.ts'

/** The database that records are moved to. */
export interface Target {
  readonly database: Database
  /** Where it is, without credentials. */
  readonly place: string
  /** Returns the move that it takes part in; null when it has no records yet. */
  move(): Promise<Move | null>
  /**
   * Lets the registry be opened with the records that were moved here, after `settle` in the same
   * transaction; once is enough.
   */
  finish(id: string, settle: (tx: Queries) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the database that records are moved to. `hasEnded`: all of them are there; null if nothing
 * is left to do.
 */
export async function openTarget(
  registry: Registry,
  settings: Settings['database'],
  hasEnded: boolean,
): Promise<Target | null> {
  const { url } = settings
  if (url === null) return fileTarget(registry, hasEnded)
  const { openPostgres } = await import('../store/database/postgres/open.ts')
  // What is copied may take its time.
  const database = await openPostgres({ ...settings, url, statement_seconds: 0 })
  return {
    database,
    place: withoutCredentials(url),
    move: () => readMove(database),
    finish: (id, settle) => finishing(database, id, settle),
    close: () => database.destroy(),
  }
}

/** Returns the path of a file that is not complete yet. */
export function copyPath(dir: string): string {
  return join(dir, `${DATABASE_FILE}.copy`)
}

async function fileTarget({ database, dir }: Registry, hasEnded: boolean): Promise<Target | null> {
  const file = join(dir, DATABASE_FILE)
  const copy = copyPath(dir)
  // A log without its database would be applied to the next one.
  const isThere = existsSync(file) || existsSync(`${file}-wal`)
  const isCopied = existsSync(copy)
  if (hasEnded && isThere && !isCopied) return null
  if (!isOnServer(database) || isThere) refuse('migrate_file_exists', { file })
  if (hasEnded && !isCopied) refuse('records_missing', { dir, file })
  const to = await openDatabase(copy)
  let isOpen = true
  const close = async () => {
    if (isOpen) await to.destroy()
    isOpen = false
  }
  return {
    database: to,
    place: copy,
    move: () => readMove(to),
    finish: async (id, settle) => {
      await finishing(to, id, settle)
      await closeWhole(to, copy)
      isOpen = false
      await rename(copy, file)
      await syncFolder(dir)
    },
    close,
  }
}

/** Ends the move in its target, unless that has been done. */
async function finishing(
  database: Database,
  id: string,
  settle: (tx: Queries) => Promise<void>,
): Promise<void> {
  const move = await readMove(database)
  if (move === null) return
  if (move.id !== id) refuse('migrate_other', { place: move.place })
  await database.transaction().execute(async tx => {
    if (isOnServer(tx)) await continueIds(tx)
    await settle(tx)
    await forgetMove(tx)
  })
}
