import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname, uptime } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Output } from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import { disk } from '../places/disk/disk.ts'
import { readText } from '../places/disk/files.ts'
import type { PublicTree } from '../places/public-tree.ts'

/** Errors of the cache file that only make the build slower; common in containers. */
const UNUSABLE = new Set('EACCES EPERM EROFS ENOENT ENOTDIR EISDIR EEXIST ENOSPC EDQUOT'.split(' '))

/** With fewer values, the build is fast anyway, so no cache is written. */
const WORTHWHILE = 100

/**
 * Results of earlier builds, by key. They depend on `context` and on this program: if one of them
 * has changed, the cache is treated as empty. Every line has its own checksum; a damaged line is
 * ignored.
 */
export class BuildCache {
  /** Whether the machine has not restarted since, so that no power failure damaged a file. */
  readonly isSameBoot: boolean
  readonly #path: string | null
  readonly #context: string
  readonly #boot: string
  readonly #before: ReadonlyMap<string, string>
  readonly #after = new Map<string, string>()
  #isWorthwhile = false

  private constructor(path: string | null, context: string, boot: string, lines: string[]) {
    const [head, oldBoot, ...rest] = lines
    this.#path = path
    this.#context = context
    this.#boot = boot
    this.isSameBoot = oldBoot === boot
    const known = head === context ? rest : []
    this.#before = new Map(known.map(line => [line.slice(65, line.indexOf('\t', 65)), line]))
  }

  /** Reads the cache at `path`; with null, nothing is read or kept. */
  static async open(path: string | null, context: unknown): Promise<BuildCache> {
    const text = path === null ? null : await ifUsable(() => readText(path))
    const own = digestOf([programDigest(), process.version, context])
    return new BuildCache(path, own, await bootId(), (text ?? '').split('\n'))
  }

  /** Returns the value of `key`, and keeps it for the next build; null if there is none. */
  get<T>(key: string): T | null {
    const quoted = JSON.stringify(key)
    const line = this.#after.get(quoted) ?? this.#before.get(quoted)
    if (line === undefined || line.slice(0, 64) !== sha256(line.slice(65))) return null
    this.#after.set(quoted, line)
    return JSON.parse(line.slice(66 + quoted.length)) as T
  }

  /** Stores a value; `isCostly` means that the cache is worth writing for it alone. */
  set(key: string, value: unknown, isCostly = false): void {
    this.#isWorthwhile ||= isCostly
    const quoted = JSON.stringify(key)
    const rest = `${quoted}\t${JSON.stringify(value)}`
    this.#after.set(quoted, `${sha256(rest)}\t${rest}`)
  }

  /** Deletes the value of `key`. */
  delete(key: string): void {
    this.#after.delete(JSON.stringify(key))
  }

  /** Writes the values that this build used or stored, for the next build. */
  async close(): Promise<void> {
    const path = this.#path
    const isWorthwhile = this.#isWorthwhile || this.#after.size >= WORTHWHILE
    if (path === null || !isWorthwhile) return
    const lines = [...this.#after].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
    const text = [this.#context, this.#boot, ...lines].join('\n')
    if (text === (await ifUsable(() => readText(path)))) return
    await ifUsable(() => disk.run('replace', path, Buffer.from(text)))
  }
}

/** Files of a tree that are rendered together, because they have the same inputs. */
export interface OutputGroup {
  /** The same in every build. */
  readonly id: string
  /** Everything that the files depend on, as JSON. */
  readonly inputs: unknown
  render(): Iterable<Output> | AsyncIterable<Output>
}

/** A file as it was written: path, size, modification time in nanoseconds, SHA-256. */
type Stamp = readonly [path: string, size: number, modified: string, sha256: string]

/**
 * Writes groups of files into a static tree. A group with the same inputs as in an earlier build is
 * not rendered again if size and modification time show that its files are unchanged.
 */
export class StaticOutputs {
  /** The paths of all files that the tree must have. */
  readonly wanted = new Set<string>()
  changed = 0
  readonly #tree: PublicTree
  readonly #cache: BuildCache

  constructor(tree: PublicTree, cache: BuildCache) {
    this.#tree = tree
    this.#cache = cache
  }

  /** Writes the files of a group, unless they are up to date. */
  async write({ id, inputs, render }: OutputGroup): Promise<void> {
    const key = `outputs ${id}`
    const digest = digestOf(inputs)
    const known = this.#cache.get<{ inputs: string; stamps: Stamp[] }>(key)
    const isKnown = known?.inputs === digest
    let stamps = isKnown ? await this.#intact(known.stamps) : null
    if (stamps === null) {
      stamps = []
      for await (const output of render()) {
        if (await this.#tree.write(output)) this.changed++
        stamps.push(this.#stamp(output.path, sha256(output.bytes)))
      }
    }
    if (stamps !== known?.stamps) this.#cache.set(key, { inputs: digest, stamps })
    for (const [path] of stamps) this.wanted.add(path)
  }

  /** Returns the stamps with current times; null if a file's bytes differ from those written. */
  async #intact(stamps: Stamp[]): Promise<Stamp[] | null> {
    const fresh: Stamp[] = []
    for (const stamp of stamps) {
      const [path, size, modified, checksum] = stamp
      const now = this.#stamp(path, checksum)
      if (now[1] !== size) return null
      // After a power failure or on another machine, the time does not prove the bytes.
      if (now[2] !== modified || !this.#cache.isSameBoot) {
        const bytes = await this.#tree.read(path)
        if (bytes === null || sha256(bytes) !== checksum) return null
      }
      fresh.push(now)
    }
    return fresh.every((one, at) => one[2] === stamps[at]?.[2]) ? stamps : fresh
  }

  #stamp(path: string, checksum: string): Stamp {
    // Synchronous, because calls through the thread pool are slower for a million files.
    const facts = statSync(this.#tree.path(path), { bigint: true, throwIfNoEntry: false })
    return [path, facts?.isFile() ? Number(facts.size) : -1, `${facts?.mtimeNs}`, checksum]
  }
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
      .filter(one => one.isFile() && !one.name.endsWith('.map'))
      .map(one => join(one.parentPath, one.name))
    for (const name of names.sort()) hash.update(name).update(readFileSync(name))
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
