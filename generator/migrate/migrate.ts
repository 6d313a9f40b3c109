// generator/migrate: Moves records, crates or tree to another place. One command calls it; it never
// deletes the old one.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { withoutCredentials } from '../../core/urls/urls.ts'
import type { Database } from '../database/connection.ts'
import {
  type CopyProgress,
  continueIds,
  copyCatalog,
  copyDifference,
  isEmpty,
  keepState,
} from '../database/copy.ts'
import { closeWhole, openDatabase, type Snapshot } from '../database/database.ts'
import type { Queries } from '../database/statement.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { syncFolder } from '../places/disk/durable.ts'
import { Lock } from '../places/locks/lock.ts'
import {
  beginPause,
  type Departure,
  endPause,
  MOVED,
  readCopy,
  readDeparture,
  recordCopy,
  renewPause,
} from '../records/pause.ts'
import { writeValue } from '../records/values.ts'
import { DATABASE_FILE } from '../registry/folder.ts'
import { openToRead, type Registry } from '../registry/registry.ts'
import { type CopiedCrates, migrateCrates, setDeletedAside } from './crates.ts'
import type { TreeCopy } from './tree.ts'

export interface Destination {
  /** A PostgreSQL server, or without a URL the file in the registry folder. */
  readonly database: Settings['database']
  /** Null: the `.crate` files stay where they are. */
  readonly crates: CrateStore | null
  /** Null: the tree stays where it is, or is rendered by the next build. */
  readonly tree: TreeCopy | null
  readonly progress?: CopyProgress
}

/** How often files are copied at most before the pause, if more than a few have changed. */
const ROUNDS = 5
const FEW = 50

/**
 * Moves the records of a registry, which may be served meanwhile, to another database, and files to
 * other places: files first, then, in a pause, the rest of them and all records, compared. Then the
 * old records refuse every change for good; a move that was stopped before begins again. Returns
 * how many rows were copied, none if all were there already, and how long nothing could change.
 */
export async function migrate(registry: Registry, to: Destination) {
  const lock = new Lock(join(registry.dir, 'locks', 'migrate.lock'))
  const place = databaseAddress(registry.dir, to.database)
  if (!lock.tryAcquire(`process ${process.pid}`)) refuse('migrate_running', { place })
  try {
    return await move(registry, to, place)
  } finally {
    lock.release()
  }
}

async function move(registry: Registry, to: Destination, place: string) {
  const departed = await readDeparture(registry.database)
  const file = databaseAddress(registry.dir, registry.settings.database)
  if (departed && departed.place !== place) refuse('records_moved', { ...departed, file })
  const done = { records: 0, place, crates: null, pausedMs: 0 }
  const target = await openTarget(registry, to.database, departed !== null)
  if (target === null) return done
  const source = await openToRead(registry)
  try {
    if (!departed) return await copyAll(registry, source, to, target, place)
    await target.finish(departed.id)
    return done
  } finally {
    await Promise.all([source.close(), target.close()])
  }
}

async function copyAll(
  registry: Registry,
  source: Snapshot,
  to: Destination,
  target: Target,
  place: string,
) {
  const { database, clock, dir, settings, locks, mutex, pageMutex } = registry
  const files = fileCopier(registry, to)
  await files.copy()
  const id = randomBytes(8).toString('hex')
  const origin = { id, place: databaseAddress(dir, settings.database) }
  // Searches and downloads go on: what they write between two tables must not be copied.
  await source.during(async () => {
    await keepState(source)
    await target.database.transaction(async tx => {
      await copyCatalog(source.queries, tx, to.progress)
      await recordCopy(tx, origin)
    })
  })
  // Again: the less is new when the pause begins, the shorter it is.
  for (let round = 0; round < ROUNDS && (await files.copy()) > FEW; round++);
  const pause = await holdPause(database, place)
  try {
    // Waits until everything is written that was begun before.
    const git = locks.mutex('git')
    for (const lock of [mutex, pageMutex, git]) await lock.run(async () => {})
    await git.close()
    const records = await source.during(() =>
      target.database.transaction(tx => copyDifference(source, tx, to.progress)),
    )
    // This comes after the records, which no longer mark what was rendered until then.
    await files.copy()
    if (to.crates) await setDeletedAside(database, to.crates)
    await to.tree?.recordShown(target.database)
    // Nobody knows what a tree that stays has of the `.crate` files.
    if (!to.tree && to.crates) await writeValue(target.database, 'tree_format', null)
    await database.transaction(async tx => {
      await pause.end(tx)
      const departure: Departure = { id, place, at: timestamp(clock()) }
      await writeValue(tx, MOVED, JSON.stringify(departure))
    })
    const pausedMs = performance.now() - pause.began
    await target.finish(id)
    return { records, place, crates: files.crates(), pausedMs }
  } finally {
    await pause.release()
  }
}

/** Returns what copies the files that differ from those of before, and says how many it copied. */
function fileCopier(registry: Registry, { crates, tree, progress }: Destination) {
  let copied: CopiedCrates | null = null
  const copy = async () => {
    const before = copied?.copied ?? 0
    if (crates || tree) copied = await migrateCrates(registry, crates, tree?.show, progress, copied)
    return (copied?.copied ?? 0) - before + ((await tree?.update(progress)) ?? 0)
  }
  return { copy, crates: () => copied }
}

/** Changes go on this long after a mover has died; it renews its pause this often. */
const SECONDS = 15
const RENEW_MS = 3000

/** Pauses a registry while its records are copied to `place`, as long as the process lives. */
async function holdPause(database: Database, place: string) {
  let value = await database.transaction(tx => beginPause(tx, SECONDS, place))
  let renewing = Promise.resolve()
  const renew = async () => {
    // A server that is away for a moment is asked again; the pause goes on meanwhile.
    const next = await renewPause(database, value, SECONDS).catch(() => value)
    // Otherwise it has ended, and cannot be ended any more.
    if (next !== null) value = next
  }
  const timer = setInterval(() => {
    renewing = renewing.then(renew)
  }, RENEW_MS)
  const stop = async () => {
    clearInterval(timer)
    await renewing
  }
  return {
    began: performance.now(),
    /** Ends the pause, in a transaction that refuses when it has ended before. */
    async end(tx: Queries): Promise<void> {
      await stop()
      if (!(await endPause(tx, value))) refuse('pause_lost')
    },
    async release(): Promise<void> {
      await stop()
      // It expires by itself.
      await endPause(database, value).catch(() => undefined)
    },
  }
}

export interface Target {
  readonly database: Database
  /** Lets the registry open with the copy `id` of its records, also again. Refuses another copy. */
  finish(id: string): Promise<void>
  close(): Promise<void>
}

/** Returns where a database is, without credentials. */
export function databaseAddress(dir: string, { url }: Settings['database']): string {
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

async function fileTarget({ isShared, dir }: Registry, hasMoved: boolean): Promise<Target | null> {
  const file = join(dir, DATABASE_FILE)
  const copy = `${file}.copy`
  if (!isShared) refuse('migrate_file_exists', { file })
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
    await continueIds(tx)
    await recordCopy(tx, null)
  })
}
