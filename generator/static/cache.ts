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
import { sha256 } from '../../core/sha256.ts'
import type { Database } from '../database/connection.ts'
import { closeAlone, openAlone } from '../database/database.ts'
import { all, type Queries, run, value } from '../database/statement.ts'
import { fileChecksum, statOf } from '../places/disk/files.ts'
import type { Lock } from '../places/locks/lock.ts'
import { readValue, writeValue } from '../records/values.ts'
import { ifUsable, lockOf } from './locks.ts'
import type { Inspected, Inspections, Source, Unkept } from './releases.ts'

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
  // What a `.crate` has in it, and apart its README and lock file, and the list of its files.
  'CREATE TABLE inspected (cksum TEXT PRIMARY KEY, found TEXT, apart TEXT, files TEXT)',
  // The files of the tree: the checksum of their bytes, and their size and time.
  'CREATE TABLE tree (path TEXT PRIMARY KEY, sum TEXT, stamp TEXT) WITHOUT ROWID',
]

/** The most results that are written at once. */
const KEPT_MAX = 100

/** The keys of what all results depend on: program and settings, and the start of the machine. */
const [ORIGIN, BOOT] = ['static_origin', 'static_boot']

/** What is known of a `.crate` file. */
type Known = Pick<Source, 'times' | 'cksum'>

/** What was found in a cache file, or why it was left. */
type Earlier = Partial<Pick<BuildCache, 'database'>> & { readonly left?: Issue }

/**
 * The records of earlier builds, and what they know of the files that they have read and written.
 * They depend on the settings and on this program. One that was left by another, or is damaged, is
 * made anew; without a file, all of it ends with the build.
 */
export class BuildCache implements Inspections {
  readonly database: Database
  /** Why an earlier cache was left. */
  readonly left: Issue | undefined
  /** Whether the last build ran since the machine has started, so that times prove bytes. */
  readonly isSameBoot: boolean
  /** Whether the next build can go on from here; else it begins anew. */
  isWhole = true
  readonly #path: string
  /** Held by its build; null if the file does not stay. */
  readonly #lock: Lock | null
  readonly #kept: string[][] = []
  readonly #sources: ReadonlyMap<string, Known>

  private constructor(
    [path, lock]: readonly [string, Lock | null],
    [database, isSameBoot]: readonly [Database, boolean],
    sources: readonly (Known & { readonly path: string })[],
    left: Issue | undefined,
  ) {
    this.#path = path
    this.#lock = lock
    this.database = database
    this.isSameBoot = isSameBoot
    this.#sources = new Map(sources.map(source => [source.path, source]))
    this.left = left
  }

  /**
   * Opens the cache at `path`, or one in no file, when no other build uses it: two at once would
   * also mix their trees. Any other file stays as it is.
   */
  static async open(path: string | null, settings: unknown): Promise<BuildCache> {
    const origin = digestOf([programDigest(), process.version, settings])
    const stats = path && (await ifUsable(() => statOf(path)))
    // A folder keeps nothing, and neither does a device: `/dev/null` would become a file.
    const file = stats && !stats.isFile() ? null : path
    const lock = file ? await ifUsable(() => lockOf(file)) : null
    const earlier = file && lock && (await ifUsable(() => openEarlier(file, origin)))
    const { database, left } = earlier || {}
    const isFree = earlier && left?.code !== 'cache_foreign'
    const own = database ?? (isFree ? await ifUsable(() => openNew(file)) : null)
    if (!own) lock?.release()
    // In a file, because memory would grow with the registry.
    const place = own && file ? file : join(mkdtempSync(join(tmpdir(), 'plimsoll-build-')), 'db')
    const used = own ?? (await openNew(place))
    const boot = await bootId()
    const isSameBoot = (await readValue(used, BOOT)) === boot
    await writeValue(used, ORIGIN, origin)
    await writeValue(used, BOOT, boot)
    const known = 'SELECT path, times, cksum FROM sources'
    const sources = await all<Known & { path: string }>(used, known)
    return new BuildCache([place, own && lock], [used, isSameBoot], sources, left)
  }

  source(path: string): Known | undefined {
    return this.#sources.get(path)
  }

  async inspected(cksum: string): Promise<Inspected | null> {
    const sql = 'SELECT found FROM inspected WHERE cksum = ?'
    return JSON.parse((await value<string>(this.database, sql, cksum)) ?? 'null')
  }

  async keep(cksum: string, inspected: Inspected, { files, ...apart }: Unkept): Promise<void> {
    this.#kept.push([cksum, ...[inspected, apart, files].map(each => JSON.stringify(each))])
    if (this.#kept.length >= KEPT_MAX) await this.#store()
  }

  async #store(): Promise<void> {
    const sql = `INSERT OR REPLACE INTO inspected
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)`
    await run(this.database, sql, this.#kept.splice(0))
  }

  /** Replaces the known `.crate` files, and forgets what was in others. */
  async keepSources(sources: readonly Source[]): Promise<void> {
    await this.#store()
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
    await closeAlone(this.database)
    if (!this.#lock) rmSync(dirname(this.#path), { recursive: true })
    else if (this.isWhole) appendFileSync(this.#path, (await fileChecksum(this.#path)) ?? '')
    else rmSync(this.#path)
    this.#lock?.release()
  }
}

/** Opens the database of an earlier build, without its checksum. */
async function openEarlier(path: string, origin: string): Promise<Earlier> {
  const isLeft = (why: string) => ({ left: warning('cache_left', { path, why }) })
  const size = existsSync(path) ? statSync(path).size : 0
  if (size === 0) return {}
  const [head, sum] = [Buffer.alloc(ID_AT + 4), Buffer.alloc(SUM)]
  const file = openSync(path, 'r+')
  readSync(file, head, 0, head.length, 0)
  readSync(file, sum, 0, SUM, Math.max(0, size - SUM))
  closeSync(file)
  if (/^[0-9a-f]{64}\n/.test(head.toString('latin1')))
    return isLeft('is of another version of this program')
  if (head.readUInt32BE(ID_AT) !== ID) return { left: warning('cache_foreign', { path }) }
  if (!/^[0-9a-f]{64}$/.test(sum.toString('latin1')))
    return isLeft('is of a build that did not end')
  truncateSync(path, size - SUM)
  if ((await fileChecksum(path)) !== sum.toString('latin1')) return isLeft('is damaged')
  const database = await openAlone(path)
  if ((await readValue(database, ORIGIN)) === origin) return { database }
  await closeAlone(database)
  return isLeft('is of another version of this program, or was made with other settings')
}

async function openNew(path: string): Promise<Database> {
  rmSync(path, { force: true })
  const database = await openAlone(path)
  for (const table of TABLES) await run(database, table)
  await run(database, `PRAGMA application_id = ${ID}`)
  return database
}

/** Returns what is kept apart of a `.crate` that this build or an earlier one has read. */
export async function apartOf(
  db: Queries,
  cksum: string,
): Promise<Pick<Unkept, 'readme' | 'locked'>> {
  const text = await value<string>(db, 'SELECT apart FROM inspected WHERE cksum = ?', cksum)
  return JSON.parse(text ?? '{"readme":null,"locked":[]}')
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
