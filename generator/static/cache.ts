import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { hostname, uptime } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import { refuse } from '../../core/error/error.ts'
import { sha256 } from '../../core/sha256.ts'
import { disk } from '../places/disk/disk.ts'
import { readText, statOf } from '../places/disk/files.ts'

/** Errors of the cache file that only make the build slower; common in containers. */
const UNUSABLE = new Set(
  'EACCES EPERM EROFS ENOENT ENOTDIR ELOOP EISDIR EEXIST ENOSPC EDQUOT'.split(' '),
)

/** A build with fewer values is fast anyway, so it writes no cache. */
const WORTHWHILE = 100

const CACHE_NAME = /^build-[0-9a-f]{16}\.txt$/
/** The caches of output folders that are gone are removed; a used one is only made anew. */
const KEPT_MS = 90 * 86_400_000

/** A longer cache has no results of work: Node has no texts of more than 512 MiB. */
const LENGTH_MAX = 400_000_000

/**
 * Results of earlier builds, by key. They depend on `context` and on this program: if one of them
 * has changed, the cache is treated as empty. Every line has its own checksum; a damaged line is
 * ignored.
 */
export class BuildCache {
  readonly #path: string | null
  readonly #context: string
  readonly #before: ReadonlyMap<string, string>
  readonly #after = new Map<string, string>()

  private constructor(path: string | null, context: string, lines: string[]) {
    const [head, ...rest] = lines
    this.#path = path
    this.#context = context
    const kept = head === context ? rest : []
    this.#before = new Map(kept.map(line => [line.slice(65, line.indexOf('\t', 65)), line]))
  }

  /** Reads the cache at `path`; with null, nothing is read or kept. Refuses any other file. */
  static async open(path: string | null, context: unknown): Promise<BuildCache> {
    const stats = path && (await ifUsable(() => statOf(path)))
    // A folder keeps nothing, and neither does a device: `/dev/null` would become a file.
    const file = stats && !stats.isFile() ? null : path
    const text = (file && (await ifUsable(() => readText(file, Infinity)))) ?? ''
    if (file && !/^(?:[0-9a-f]{64}\n|$)/.test(text)) refuse('cache_foreign', { path: file })
    const own = digestOf([programDigest(), process.version, context])
    return new BuildCache(file, own, text.split('\n'))
  }

  /** Returns the value of `key`, and keeps it for the next build; null if there is none. */
  get<T>(key: string): T | null {
    const quoted = JSON.stringify(key)
    const line = this.#after.get(quoted) ?? this.#before.get(quoted)
    if (line === undefined || line.slice(0, 64) !== sha256(line.slice(65))) return null
    this.#after.set(quoted, line)
    return JSON.parse(line.slice(66 + quoted.length)) as T
  }

  set(key: string, value: unknown): void {
    const quoted = JSON.stringify(key)
    const rest = `${quoted}\t${JSON.stringify(value)}`
    this.#after.set(quoted, `${sha256(rest)}\t${rest}`)
  }

  delete(key: string): void {
    this.#after.delete(JSON.stringify(key))
  }

  /** Returns the result of work that depends on its inputs alone; does it unless it is known. */
  async remember<T>(inputs: readonly unknown[], work: () => Promise<T>): Promise<T> {
    const cached = this.get<string>(workKey(inputs))
    if (cached !== null) return deserialize(Buffer.from(cached, 'base64')) as T
    const result = await work()
    this.know(inputs, result)
    return result
  }

  /** Stores the result of work with these inputs. */
  know(inputs: readonly unknown[], result: unknown): void {
    this.set(workKey(inputs), serialize(result).toString('base64'))
  }

  /** Writes the values that this build used or stored, and others if it did not need all. */
  async close(keepsOthers = false): Promise<void> {
    const path = this.#path
    const all = [...new Map([...(keepsOthers ? this.#before : []), ...this.#after])]
    if (path === null || all.length < WORTHWHILE) return
    const isLong = all.reduce((sum, [, line]) => sum + line.length + 1, 0) > LENGTH_MAX
    const values = isLong ? all.filter(([key]) => !key.startsWith('"work ')) : all
    const lines = values.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
    const text = [this.#context, ...lines].join('\n')
    if (text === (await ifUsable(() => readText(path, Infinity)))) return
    await ifUsable(() => disk.run('replace', path, Buffer.from(text)))
  }
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
  return `build-${sha256(resolve(out)).slice(0, 16)}.txt`
}

function workKey(inputs: readonly unknown[]): string {
  return `work ${digestOf(inputs)}`
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
    for (const name of names.sort()) hash.update(name).update(readFileSync(name))
  }
  for (const name of ['package.json', 'node_modules/.package-lock.json']) {
    const path = join(dirname(built), name)
    hash.update((existsSync(path) && readFileSync(path)) || '')
  }
  return hash.digest('hex')
}

/** Returns the boot id of the system (proc(5)), or the minute of its start where there is none. */
export async function bootId(): Promise<string> {
  const id = await ifUsable(() => readFile('/proc/sys/kernel/random/boot_id', 'utf8'))
  return id?.trim() ?? `${hostname()} ${Math.round((Date.now() / 1000 - uptime()) / 60)}`
}
