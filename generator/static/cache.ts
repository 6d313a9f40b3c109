import { createHash } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir, uptime } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Issue, warning } from '../../core/error/error.ts'
import type { Release } from '../../core/release/release.ts'
import { sha256 } from '../../core/sha256.ts'
import type { Database } from '../database/connection.ts'
import { openAlone } from '../database/database.ts'
import { all, run, value } from '../database/statement.ts'
import { fileChecksum, statOf } from '../places/disk/files.ts'
import { readValue, writeValue } from '../records/values.ts'
import type { Inspected, Inspections, Source } from './releases.ts'

/** Errors of the cache file that only make the build slower; common in containers. */
const UNUSABLE = new Set(
  'EACCES EPERM EROFS ENOENT ENOTDIR ELOOP EISDIR EEXIST ENOSPC EDQUOT'.split(' '),
)

const CACHE_NAME = /^build-[0-9a-f]{16}\.(?:txt|db)$/
/** The caches of output folders that are gone are removed; a used one is only made anew. */
const KEPT_MS = 90 * 86_400_000

/** In the first bytes of a cache, which is a database, at `ID_AT`; SQLite leaves it to programs. */
const ID = 0x506c6d42
const ID_AT = 68

/** The length of the checksum that follows the database when a build has ended. */
const SUM = 64

const TABLES = [
  // The `.crate` files: their size and times, and the checksum of their bytes.
  'CREATE TABLE sources (path TEXT PRIMARY KEY, times TEXT, cksum TEXT) WITHOUT ROWID',
  // What a `.crate` has in it, and the list of its files.
  'CREATE TABLE inspected (cksum TEXT PRIMARY KEY, found TEXT, files TEXT)',
  // The files of the tree: the checksum of their bytes, and their size and time.
  'CREATE TABLE tree (path TEXT PRIMARY KEY, sum TEXT, stamp TEXT) WITHOUT ROWID',
]

/** The most results that are written at once. */
const KEPT_MAX = 100

/** The keys of what all results depend on: program and settings, and the start of the machine. */
const [ORIGIN, BOOT] = ['static_origin', 'static_boot']

/** Why a file is of no use; nothing is said of one that is missing, or cannot be used. */
const WHY = {
  unusable: null,
  missing: null,
  foreign: '',
  old: 'is of another version of this program',
  other: 'is of another version of this program, or was made with other settings',
  damaged: 'is damaged',
  unended: 'is of a build that did not end',
} as const

/**
 * The records of earlier builds, and what they know of the files that they have read and written.
 * They depend on the settings and on this program. One that was left by another, or is damaged, is
 * made anew; without a file, all of it ends with the build.
 */
export class BuildCache implements Inspections {
  readonly database: Database
  /** Why an earlier cache was left; null if there was none, or if it is used. */
  readonly left: Issue | null
  /** Whether it has nothing of an earlier build. */
  readonly isNew: boolean
  /** Whether the last build ran since the machine has started, so that times prove bytes. */
  readonly isSameBoot: boolean
  /** Whether the next build can go on from here; else it begins anew. */
  isWhole = true
  readonly sources = new Map<string, Source>()
  readonly inspected = new Map<string, Inspected>()
  /** Its file, and whether that stays. */
  readonly #path: string
  readonly #isKept: boolean
  readonly #kept: string[][] = []

  private constructor(
    [path, isKept]: readonly [string, boolean],
    database: Database,
    before: Pick<BuildCache, 'isNew' | 'isSameBoot' | 'left'>,
  ) {
    this.#path = path
    this.#isKept = isKept
    this.database = database
    this.isNew = before.isNew
    this.isSameBoot = before.isSameBoot
    this.left = before.left
  }

  /** Opens the cache at `path`, or one in no file. Any other file stays as it is. */
  static async open(path: string | null, settings: unknown): Promise<BuildCache> {
    const origin = digestOf([programDigest(), process.version, settings])
    const boot = await bootId()
    const stats = path && (await ifUsable(() => statOf(path)))
    // A folder keeps nothing, and neither does a device: `/dev/null` would become a file.
    const file = stats && !stats.isFile() ? null : path
    const earlier = (file && (await ifUsable(() => openEarlier(file, origin)))) || 'unusable'
    if (file && typeof earlier === 'object') {
      const isSameBoot = (await readValue(earlier, BOOT)) === boot
      await writeValue(earlier, BOOT, boot)
      const cache = new BuildCache([file, true], earlier, { isNew: false, isSameBoot, left: null })
      await cache.#read()
      return cache
    }
    const state = typeof earlier === 'string' ? earlier : 'unusable'
    const why = WHY[state]
    const code = state === 'foreign' ? 'cache_foreign' : 'cache_left'
    const left = why === null ? null : warning(code, { path: file ?? '', why })
    const isFree = file && state !== 'unusable' && state !== 'foreign'
    const opened = isFree ? await ifUsable(() => openNew(file)) : null
    // In a file, because memory would grow with the registry.
    const place = opened ? file : join(mkdtempSync(join(tmpdir(), 'plimsoll-build-')), 'db')
    const database = opened ?? (await openNew(place ?? ''))
    await writeValue(database, ORIGIN, origin)
    await writeValue(database, BOOT, boot)
    const before = { isNew: true, isSameBoot: true, left }
    return new BuildCache([place ?? '', opened !== null], database, before)
  }

  /** Reads what is known of `.crate` files. */
  async #read(): Promise<void> {
    type Inspection = Readonly<Record<'cksum' | 'found', string>>
    const sources = 'SELECT path, times, cksum FROM sources'
    for (const row of await all<Source>(this.database, sources)) this.sources.set(row.path, row)
    const inspected = 'SELECT cksum, found FROM inspected'
    for (const { cksum, found } of await all<Inspection>(this.database, inspected))
      this.inspected.set(cksum, JSON.parse(found))
  }

  async keep(cksum: string, inspected: Inspected, files: Release['files']): Promise<void> {
    this.#kept.push([cksum, JSON.stringify(inspected), JSON.stringify(files)])
    if (this.#kept.length >= KEPT_MAX) await this.#store()
  }

  async #store(): Promise<void> {
    const sql = `INSERT OR REPLACE INTO inspected
      SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`
    await run(this.database, sql, this.#kept.splice(0))
  }

  /** Replaces the known `.crate` files, and forgets what was in others, also in memory. */
  async keepSources(sources: readonly Source[]): Promise<void> {
    await this.#store()
    this.inspected.clear()
    const sql = `INSERT INTO sources SELECT value ->> 'path', value ->> 'times', value ->> 'cksum'
      FROM json_each(?)`
    await this.database.transaction(async tx => {
      await run(tx, 'DELETE FROM sources')
      await run(tx, sql, sources)
      await run(tx, 'DELETE FROM inspected WHERE cksum NOT IN (SELECT cksum FROM sources)')
    })
  }

  /** Returns the list of the files of a `.crate` that was read for it; does other work. */
  async remember<T>([what, cksum]: readonly unknown[], work: () => Promise<T>): Promise<T> {
    const sql = 'SELECT files FROM inspected WHERE cksum = ?'
    const files = what === 'files' ? await value<string>(this.database, sql, String(cksum)) : null
    return files === null ? work() : (JSON.parse(files) as T)
  }

  /** Ends its use. The file has its checksum then, or is gone if it is not whole. */
  async close(): Promise<void> {
    await this.database.close()
    if (!this.#isKept) rmSync(dirname(this.#path), { recursive: true })
    else if (this.isWhole) appendFileSync(this.#path, (await fileChecksum(this.#path)) ?? '')
    else rmSync(this.#path)
  }
}

/** Opens the database of an earlier build, without its checksum; returns why it is of no use. */
async function openEarlier(path: string, origin: string): Promise<Database | keyof typeof WHY> {
  const size = existsSync(path) ? statSync(path).size : 0
  if (size === 0) return 'missing'
  const [head, sum] = [Buffer.alloc(ID_AT + 4), Buffer.alloc(SUM)]
  const file = openSync(path, 'r+')
  readSync(file, head, 0, head.length, 0)
  readSync(file, sum, 0, SUM, Math.max(0, size - SUM))
  closeSync(file)
  if (/^[0-9a-f]{64}\n/.test(head.toString('latin1'))) return 'old'
  if (head.readUInt32BE(ID_AT) !== ID) return 'foreign'
  if (!/^[0-9a-f]{64}$/.test(sum.toString('latin1'))) return 'unended'
  truncateSync(path, size - SUM)
  if ((await fileChecksum(path)) !== sum.toString('latin1')) return 'damaged'
  const database = await openAlone(path)
  if ((await readValue(database, ORIGIN)) === origin) return database
  await database.close()
  return 'other'
}

async function openNew(path: string): Promise<Database> {
  rmSync(path, { force: true })
  const database = await openAlone(path)
  for (const table of TABLES) await run(database, table)
  await run(database, `PRAGMA application_id = ${ID}`)
  return database
}

/** Removes the caches in a folder that no build has changed for 90 days. */
export async function removeOldCaches(folder: string): Promise<void> {
  for (const name of (await ifUsable(() => readdir(folder))) ?? []) {
    const path = join(folder, name)
    if (!CACHE_NAME.test(name)) continue
    const stats = await ifUsable(() => stat(path))
    if (stats && Math.abs(Date.now() - stats.mtimeMs) > KEPT_MS) await ifUsable(() => rm(path))
  }
}

/** The name of the cache of an output folder, in a folder with those of others. */
export function cacheName(out: string): string {
  return `build-${sha256(resolve(out)).slice(0, 16)}.db`
}

/** Returns a checksum of any JSON value. */
export function digestOf(value: unknown): string {
  return sha256(JSON.stringify(value))
}

async function ifUsable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!UNUSABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    return null
  }
}

/** Hashes all code of a build and its dependencies: another version may render other bytes. */
function programDigest(): string {
  const built = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
  const hash = createHash('sha256')
  for (const room of ['core', 'site', 'generator', 'assets']) {
    const folder = join(built, room)
    const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(file => file.isFile() && !/\.(?:map|d\.ts)$/.test(file.name))
      .map(file => join(file.parentPath, file.name))
    for (const name of names.sort())
      hash.update(name.slice(built.length)).update(readFileSync(name))
  }
  for (const name of ['package.json', 'node_modules/.package-lock.json']) {
    const path = join(dirname(built), name)
    hash.update((existsSync(path) && readFileSync(path)) || '')
  }
  return hash.digest('hex')
}

/** Returns the boot id of the system (proc(5)), or the minute of its start where there is none. */
async function bootId(): Promise<string> {
  const id = await ifUsable(() => readFile('/proc/sys/kernel/random/boot_id', 'utf8'))
  return id?.trim() ?? `${hostname()} ${Math.round((Date.now() / 1000 - uptime()) / 60)}`
}
