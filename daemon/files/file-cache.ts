import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, type Stats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'

/** The content of a file: its tag, and its bytes where they are few enough to be kept. */
export interface Held<Bytes = Buffer> {
  /** SHA-256 of the bytes, shortened; without quotes. */
  readonly tag: string
  readonly bytes: Bytes
  /** The bytes compressed, where that was asked for and pays. */
  readonly gzip: Buffer | null
}

interface Entry {
  readonly held: Held<Buffer | null>
  readonly stamp: string
  /** Whether the stamp alone says that the file is still the same. */
  readonly isSettled: boolean
  readonly weight: number
}

const GZIP_FROM_BYTES = 1024
/** What an entry costs besides its bytes, roughly. */
const ENTRY_BYTES = 300
/**
 * The coarsest clock of a file system in use (FAT); one that has just changed may change again
 * within the same tick.
 */
const TICK_MS = 2000

/**
 * What is known of files that are asked for, bounded in bytes, the longest unused given up first. A
 * file counts as unchanged when inode, size and times are those it was read with and it was not
 * brand-new then: so no answer is older than the file, even where two changes fall into one tick of
 * the file system's clock.
 */
export class FileCache {
  readonly #capacity: number
  #size = 0
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>()
  readonly #loading = new Map<string, Promise<unknown>>()

  constructor(capacityBytes: number) {
    this.#capacity = capacityBytes
  }

  /** How many bytes are kept now. */
  get size(): number {
    return this.#size
  }

  /** The content of a file as it is now, if that is known already. */
  find(path: string, stats: Stats): Held | null {
    const held = this.#settled(path, stats)
    return held && hasBytes(held) ? held : null
  }

  /** Reads a small file at once. */
  load(path: string, stats: Stats, compress: boolean): Held {
    const bytes = readFileSync(path)
    const known = this.#entries.get(path)?.held
    if (known && hasBytes(known) && known.bytes.equals(bytes)) return this.#keep(path, stats, known)
    const zipped = compress && bytes.byteLength >= GZIP_FROM_BYTES ? gzipSync(bytes) : null
    return this.#keep(path, stats, { tag: tagOf(bytes), bytes, gzip: zipped })
  }

  /**
   * Reads a bigger file while others are served; once, however many ask for it at the same time.
   */
  loadLater(path: string, stats: Stats, compress: boolean): Promise<Held> {
    return this.#once(`bytes ${path}`, stats, async () => {
      const bytes = await readFile(path)
      return this.#keep(path, stats, {
        tag: tagOf(bytes),
        bytes,
        gzip: compress ? await zip(bytes) : null,
      })
    })
  }

  /** The tag alone of a file that is too big to be kept. */
  async tag(path: string, stats: Stats): Promise<string> {
    const known = this.#settled(path, stats)
    if (known) return known.tag
    return this.#once(`tag ${path}`, stats, async () => {
      const hash = createHash('sha256')
      for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
      const tag = shorten(hash.digest('hex'))
      this.#keep(path, stats, { tag, bytes: null, gzip: null })
      return tag
    })
  }

  #settled(path: string, stats: Stats): Held<Buffer | null> | null {
    const entry = this.#entries.get(path)
    if (!entry?.isSettled || entry.stamp !== stampOf(stats)) return null
    this.#entries.delete(path)
    this.#entries.set(path, entry)
    return entry.held
  }

  #keep<H extends Held<Buffer | null>>(path: string, stats: Stats, held: H): H {
    this.#forget(path)
    const weight =
      ENTRY_BYTES + path.length + (held.bytes?.byteLength ?? 0) + (held.gzip?.byteLength ?? 0)
    // One file may not drive all others out.
    if (weight > this.#capacity / 4) return held
    const isSettled = Date.now() - Math.max(stats.ctimeMs, stats.mtimeMs) > TICK_MS
    this.#entries.set(path, { held, stamp: stampOf(stats), isSettled, weight })
    this.#size += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#capacity) break
      this.#forget(oldest)
    }
    return held
  }

  #forget(path: string): void {
    this.#size -= this.#entries.get(path)?.weight ?? 0
    this.#entries.delete(path)
  }

  async #once<T>(work: string, stats: Stats, load: () => Promise<T>): Promise<T> {
    const key = `${work} ${stampOf(stats)}`
    const running = this.#loading.get(key) as Promise<T> | undefined
    if (running) return running
    const loading = load()
    this.#loading.set(key, loading)
    try {
      return await loading
    } finally {
      this.#loading.delete(key)
    }
  }
}

const zip = promisify(gzip)

function hasBytes(held: Held<Buffer | null>): held is Held {
  return held.bytes !== null
}

function stampOf(stats: Stats): string {
  return `${stats.ino}-${stats.size}-${stats.mtimeMs}-${stats.ctimeMs}`
}

function tagOf(bytes: Buffer): string {
  return shorten(createHash('sha256').update(bytes).digest('hex'))
}

function shorten(hex: string): string {
  return hex.slice(0, 32)
}
