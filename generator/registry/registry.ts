// generator/registry: A registry folder, opened: its settings, records and places. All above call
// it; it never listens.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import type { AccessRecord } from '../../core/settings/access.ts'
import { renderNewSettings } from '../../core/settings/file.ts'
import {
  type ResolvedSettings,
  resolveSettings,
  type Settings,
} from '../../core/settings/settings.ts'
import type { SettingFlags } from '../../core/settings/source.ts'
import { registryUrls, withoutCredentials } from '../../core/urls/urls.ts'
import type { Database } from '../database/connection.ts'
import { describeDaemon, listDaemons } from '../database/daemons.ts'
import { openDatabase, openSnapshot, type Snapshot } from '../database/database.ts'
import { isOnServer } from '../database/engine.ts'
import type { BeforeUpgrade } from '../database/migrations.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { workAsOwner } from '../places/disk/caller.ts'
import { damage } from '../places/disk/damage.ts'
import { writeDurably } from '../places/disk/durable.ts'
import { fileStats } from '../places/disk/files.ts'
import { FileLocks, Lock } from '../places/locks/lock.ts'
import type { Locks } from '../places/locks/process-mutex.ts'
import type { TreeRecords } from '../places/mirror.ts'
import { openCrates, openTree, requireApart } from '../places/storage.ts'
import { keepPrivate } from '../private-files.ts'
import { type PageContext, PLIMSOLL, type Program, type Progress } from '../projections/context.ts'
import { siteConfig } from '../projections/site-config.ts'
import { refreshListings } from '../records/crate-change.ts'
import { crateRecords } from '../records/crates.ts'
import { readIndexFile } from '../records/index-file.ts'
import { type MarkSubject, markAgain } from '../records/marks.ts'
import { requireInUse, requireUnpaused } from '../records/pause.ts'
import { keyAtPath } from '../records/releases.ts'
import { releaseOfBytes } from '../records/releases-stored.ts'
import { ACCESS, readJsonValue, readValue } from '../records/values.ts'
import { Web } from '../web/web.ts'
import {
  DATABASE_FILE,
  isRegistry,
  readSettings,
  SETTINGS_FILE,
  type SettingSources,
} from './folder.ts'

/** Settings, and who opens the registry for what. */
export interface RegistrySources extends SettingSources {
  readonly program?: Program | undefined
  /** Whether it is only read: records of an older version are refused then, and not upgraded. */
  readonly reads?: boolean
  /** Called with a sentence when records of an older version are upgraded. */
  readonly onUpgrade?: (line: string) => void
  /** Called while the data of an older version is upgraded. */
  readonly progress?: Progress
  /** The address of the daemon that opens it, for settings without a base URL. */
  readonly base?: string
  /** Whether it is opened to move it: also if its records were moved, and in a pause. */
  readonly forMove?: boolean
}

/** An open registry folder: its settings and stores. */
export interface Registry extends PageContext {
  readonly crates: CrateStore
  readonly dir: string
  readonly settings: Settings
  /** Its settings of access, and which of them are as at the last start only. */
  readonly access: Pick<ResolvedSettings, 'access' | 'kept'>
  readonly locks: Locks
  close(): Promise<void>
}

/**
 * Creates a registry folder with these settings in its file; refuses wrong ones, those of the
 * sources included, and a folder that has a registry.
 */
export async function initRegistry(
  dir: string,
  sources: SettingSources,
  flags: SettingFlags,
): Promise<void> {
  if (isRegistry(dir)) refuse('registry_exists', { dir })
  resolveSettings({ ...sources, flags: { ...sources.flags, ...flags } })
  await writeDurably(join(dir, SETTINGS_FILE), Buffer.from(renderNewSettings(flags)), 0o600)
}

/**
 * Opens a registry folder. If the settings have no base URL, uses `base`, else the address that the
 * daemon had last, or that it will listen on. Access is as it was served last, unless the settings
 * say otherwise. An upgrade is refused beside a daemon of this folder,
 * and for reading. Refuses records that were moved, and places that overlap, except `forMove`; then
 * its mutexes also work in a pause.
 */
export async function openWith(
  dir: string,
  sources: RegistrySources & Pick<Registry, 'followers'>,
): Promise<Registry> {
  const { followers, base, forMove = false } = sources
  const { storage, database: place } = readSettings(dir, sources).settings
  const root = resolve(dir)
  if (!forMove) requireApart(root, storage)
  const crates = await openCrates(root, storage, sources.env)
  await keepPrivate(root, crates.isLocal ? crates.place.name : join(root, 'cache'))
  const program = sources.program ?? PLIMSOLL
  const { url } = place
  const file = url === null ? join(root, DATABASE_FILE) : withoutCredentials(url)
  // A daemon that opens the registry holds the lock of its folder itself.
  const holder = base === undefined ? serveHolder(root) : null
  const upgrade: BeforeUpgrade = async (db, from, to) => {
    const daemons = holder === null ? (await listDaemons(db)).map(describeDaemon) : [holder]
    if (sources.reads || holder !== null)
      refuse('upgrade_needed', { file, from, to, version: program.version, daemons })
    sources.onUpgrade?.(`upgrading ${file} from ${from} to ${to}`)
  }
  const { database, locks } = await openRecords(root, place, crates, program, upgrade, forMove)
  try {
    if (!forMove) await requireInUse(database, file)
    // A killed publish may have left its bytes in a registry that was opened before.
    if (url !== null && (await isNew(database))) await requireNoCrates(root, file, crates)
    await refreshListings({ database, followers }, sources.progress, upgrade)
    const before = await readJsonValue<AccessRecord>(database, ACCESS)
    const { settings, ...access } = readSettings(dir, { ...sources, before })
    const listening = `http://${settings.server.listen}`
    const address = base ?? (await readValue(database, 'base')) ?? listening
    const urls = registryUrls(settings.registry, address)
    const records = { database, followers, locks, program }
    return await withTree({ ...records, dir: root, settings, access, crates, urls }, sources.env)
  } catch (error) {
    await locks.close()
    await database.close()
    throw error
  }
}

type Stores = Pick<
  Registry,
  'dir' | 'settings' | 'access' | 'database' | 'followers' | 'locks' | 'crates' | 'urls' | 'program'
>

async function withTree(stores: Stores, env: SettingSources['env']): Promise<Registry> {
  const { dir, settings, database, locks, crates, urls } = stores
  const isShared = isOnServer(database)
  const records: TreeRecords = {
    areShared: isShared,
    indexFile: path => readIndexFile(database, path),
    isReleased: async cksum => (await releaseOfBytes(database, cksum)) !== null,
    keyAt: path => keyAtPath(database, path),
  }
  const { ca_file: caFile, contact } = settings.outgoing
  const sender = () => new Web({ caFile, contact, env })
  const tree = await openTree(dir, settings, env, crates, urls.base, records, sender)
  const mutex = locks.mutex('build')
  const pageMutex = locks.mutex('pages')
  return {
    ...stores,
    mutex,
    pageMutex,
    site: siteConfig(settings, urls, true),
    tree,
    isShared,
    authRequired: settings.auth.required,
    clock: () => new Date(),
    close: async () => {
      try {
        await mutex.close()
        await pageMutex.close()
      } finally {
        tree.changes?.close()
        await locks.close()
        await database.close()
        await tree.cdn?.close()
      }
    },
  }
}

async function openRecords(
  dir: string,
  place: Settings['database'],
  crates: CrateStore,
  program: Program,
  upgrade: BeforeUpgrade,
  forMove: boolean,
): Promise<Pick<Registry, 'database' | 'locks'>> {
  const { url } = place
  const before = (database: Database) => (forMove ? undefined : () => requireUnpaused(database))
  if (url !== null) {
    // Most registries do not need it: it is loaded only here.
    const { openPostgres, ServerLocks } = await import('../database/postgres/open.ts')
    const server = { ...place, url }
    const database = await openPostgres(server, program, upgrade)
    const again = (marks: readonly MarkSubject[]) => markAgain(database, marks)
    return { database, locks: new ServerLocks(server, before(database), again) }
  }
  const file = join(dir, DATABASE_FILE)
  // A new database would make orphans of the `.crate` files.
  if (((await fileStats(file))?.size ?? 0) === 0) await requireNoCrates(dir, file, crates)
  const database = await openDatabase(file, program, upgrade)
  return { database, locks: new FileLocks(join(dir, 'locks'), before(database)) }
}

/** Opens the records of a registry folder for reading only, as they are: nothing is upgraded. */
export async function openToRead({
  dir,
  settings,
}: Pick<Registry, 'dir' | 'settings'>): Promise<Snapshot> {
  const { url } = settings.database
  if (url === null) return openSnapshot(join(dir, DATABASE_FILE))
  const { openSnapshot: openOnServer } = await import('../database/postgres/open.ts')
  return openOnServer({ ...settings.database, url })
}

/** Returns the settings of access that the last daemon of a folder had; null where none was. */
export async function servedAccess(dir: string, settings: Settings): Promise<AccessRecord | null> {
  // A folder for static builds has no records.
  if (settings.database.url === null && !existsSync(join(dir, DATABASE_FILE))) return null
  workAsOwner(dir)
  const { queries, close } = await openToRead({ dir, settings })
  return readJsonValue<AccessRecord>(queries, ACCESS).finally(close)
}

/** Returns whether nobody has opened these records yet, and there are none. */
async function isNew(database: Database): Promise<boolean> {
  // Opening records derives their listings.
  if ((await readValue(database, 'listings')) !== null) return false
  return (await crateRecords(database)) === 0
}

async function requireNoCrates(dir: string, file: string, crates: CrateStore): Promise<void> {
  for await (const _ of crates.list()) refuse('records_missing', { dir, file })
}

/**
 * Has SQLite look at the whole file of the records; returns what is wrong, and null for nothing or
 * where a server has them. Its time grows with the file.
 */
export async function findDamage({ isShared, dir }: Pick<Registry, 'isShared' | 'dir'>) {
  return isShared ? null : damage.look(join(dir, DATABASE_FILE))
}

/** Returns the lock that the daemon of a registry folder holds while it runs. */
export function serveLock(dir: string): Lock {
  return new Lock(join(resolve(dir), 'locks', 'serve.lock'))
}

/** Returns whether a daemon is serving the registry, from this folder or from another one. */
export async function isServed({ dir, database }: Registry): Promise<boolean> {
  return serveHolder(dir) !== null || (await listDaemons(database)).length > 0
}

/** Returns the lock's line about the daemon that serves the folder; null when there is none. */
export function serveHolder(dir: string): string | null {
  const lock = serveLock(dir)
  return lock.isHeld() ? lock.holder() : null
}
