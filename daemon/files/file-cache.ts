import { createReadStream, readFileSync, type Stats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { Flights } from '../../core/async/flights.ts'
import { sha256, sha256Of } from '../../core/sha256.ts'

/** The content of a file: its tag, and its bytes unless the file is too big. */
export interface Held<Bytes = Buffer> {
  readonly tag: string
  readonly bytes: Bytes
  readonly gzip: Buffer | null
}

interface Entry {
  readonly held: Held<Buffer | null>
  readonly stats: Stamp
  /** Whether equal `stats` prove that the file is unchanged. */
  readonly isSettled: boolean
  seen: Moment
}

/** The number of changes of the tree (`ChangeNumber`), and the time, in milliseconds. */
export interface Moment {
  readonly change: number
  readonly time: number
}

type Stamp = Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>

const GZIP_FROM_BYTES = 1024
const ENTRY_BYTES = 400
/** The coarsest file time (FAT): within it, a file may change again without a new time. */
const TICK_MS = 2000
/** How long the cache trusts a file of an unchanged tree: others may have changed the file. */
const UNSEEN_MS = 1000
const NEVER: Moment = { change: Number.NaN, time: 0 }

/**
 * A cache of file contents, bounded in bytes. A file counts as unchanged if inode, size and times
 * are the same and it was older than a clock tick when it was read. So the cache never returns
 * outdated content.
 *
 * `recall` asks nobody: it goes by the number of changes of the tree. What another program than
 * Plimsoll changes there is seen within a second.
 */
export class FileCache {
  readonly #entries: LRUCache<string, Entry>
  readonly #loading = new Flights<unknown>()

  constructor(capacityBytes: number) {
    this.#entries = new LRUCache({
      maxSize: capacityBytes,
      // One file must not evict all others.
      maxEntrySize: Math.floor(capacityBytes / 4),
      sizeCalculation: ({ held }, path) =>
        ENTRY_BYTES + path.length + (held.bytes?.byteLength ?? 0) + (held.gzip?.byteLength ?? 0),
    })
  }

  get size(): number {
    return this.#entries.calculatedSize
  }

  recall(path: string, { change, time }: Moment): Held | null {
    const entry = this.#entries.get(path)
    if (entry === undefined || entry.seen.change !== change) return null
    const { held } = entry
    return time - entry.seen.time < UNSEEN_MS && hasBytes(held) ? held : null
  }

  saw(path: string, moment: Moment): void {
    const entry = this.#entries.peek(path)
    if (entry) entry.seen = moment
  }

  find(path: string, stats: Stats): Held | null {
    const held = this.#settled(path, stats)
    return held && hasBytes(held) ? held : null
  }

  findTag(path: string, stats: Stats): string | null {
    return this.#settled(path, stats)?.tag ?? null
  }

  load(path: string, stats: Stats, compress: boolean): Held {
    const bytes = readFileSync(path)
    const cached = this.#entries.get(path)?.held
    if (cached && hasBytes(cached) && cached.bytes.equals(bytes))
      return this.#keep(path, stats, cached)
    const zipped = compress && bytes.byteLength >= GZIP_FROM_BYTES ? gzipSync(bytes) : null
    return this.#keep(path, stats, { tag: tagOf(bytes), bytes, gzip: zipped })
  }

  /** Reads a bigger file asynchronously, once for all concurrent requests. */
  loadLater(path: string, stats: Stats, compress: boolean): Promise<Held> {
    return this.#once(`bytes ${path}`, stats, async () => {
      const bytes = await readFile(path)
      const zipped = compress ? await zip(bytes) : null
      return this.#keep(path, stats, { tag: tagOf(bytes), bytes, gzip: zipped })
    })
  }

  async tag(path: string, stats: Stats): Promise<string> {
    return this.#once(`tag ${path}`, stats, async () => {
      const tag = (await sha256Of(createReadStream(path))).slice(0, 32)
      this.#keep(path, stats, { tag, bytes: null, gzip: null })
      return tag
    })
  }

  #settled(path: string, stats: Stats): Held<Buffer | null> | null {
    const entry = this.#entries.get(path)
    return entry?.isSettled && isSameFile(entry.stats, stats) ? entry.held : null
  }

  #keep<H extends Held<Buffer | null>>(path: string, stats: Stats, held: H): H {
    const isSettled = Date.now() - Math.max(stats.ctimeMs, stats.mtimeMs) > TICK_MS
    const { ino, size, mtimeMs, ctimeMs } = stats
    const stamp = { ino, size, mtimeMs, ctimeMs }
    this.#entries.set(path, { held, stats: stamp, isSettled, seen: NEVER })
    return held
  }

  async #once<T>(work: string, stats: Stats, load: () => Promise<T>): Promise<T> {
    const { ino, size, mtimeMs, ctimeMs } = stats
    const key = `${work} ${ino}-${size}-${mtimeMs}-${ctimeMs}`
    return this.#loading.join(key, load) as Promise<T>
  }
}

const zip = promisify(gzip)

function hasBytes(held: Held<Buffer | null>): held is Held {
  return held.bytes !== null
}

/** Returns whether two `stat` results of a path mean the same, unchanged file. */
export function isSameFile(a: Stamp, b: Stamp): boolean {
  const isSameTime = a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
  return isSameTime && a.ino === b.ino && a.size === b.size
}

/** Returns the tag of content. */
export function tagOf(bytes: Buffer): string {
  return sha256(bytes).slice(0, 32)
}
