import { createHash } from 'node:crypto'
import { closeSync, writeFile } from 'node:fs'
import { rm, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { refuse } from '../../core/error/error.ts'
import { cksumOfKey } from '../../core/paths/crates.ts'
import { sha256Of } from '../../core/sha256.ts'
import { disk } from './disk/disk.ts'
import { makeFolder, probeFolder } from './disk/durable.ts'
import { writing } from './disk/fault.ts'
import { fileStats, readFolder, sweepFolder } from './disk/files.ts'
import { temporaryPath } from './disk/steps.ts'
import { FolderPlace } from './folder-place.ts'
import { type ByteRange, type LocalFile, type OpenFile, type Place, probePlace } from './place.ts'
import { reading } from './s3/failure.ts'

/** The bytes of a `.crate`, wherever they are stored. */
export interface CrateBytes {
  readonly size: number
  /** SHA-256, lowercase hex. */
  readonly cksum: string
  /** The bytes, or the file that contains them. */
  readonly content: Uint8Array | string
}

/** Received bytes that the caller has yet to keep or discard. */
export interface Staged extends CrateBytes {
  /** Stores them durably as the content of `key`. */
  keep(key: string): Promise<void>
  /** Deletes them; does nothing after `keep`. */
  discard(): Promise<void>
}

/** A smaller `.crate`, as most are, is in memory until it is kept. */
const FIRST_BYTES = 64 * 1024

/** Appends bytes to an open file; does not stop half-way when the disk is nearly full. */
const append: (file: number, bytes: Uint8Array) => Promise<void> = promisify(writeFile)

/** The folders of running uploads, and of bytes that no release has any more. */
const INCOMING = 'incoming'
const ASIDE = 'aside'

/** How long a copy stays at least, in milliseconds; a sweep comes after this many new bytes. */
const STAY_MS = 10 * 60_000
const SWEPT_BYTES = 1024 ** 3

/**
 * Stores `.crate` bytes by key in a place. Keys contain the checksum of their content, so what a
 * key has never changes, a repeated publish writes the same bytes, and an orphan never blocks one.
 */
export class CrateStore {
  readonly place: Place
  readonly #incoming: string
  /** Copies of a bucket's bytes on this machine, which nobody needs to keep; null for a folder. */
  readonly #copies: FolderPlace | null
  /** The bytes of copies that came since the last sweep. */
  #copied = 0

  /** `cache`: a folder of this machine for what is received, and for copies. */
  constructor(place: Place, cache: string) {
    this.place = place
    this.#incoming = join(cache, INCOMING)
    this.#copies = place.local ? null : new FolderPlace(join(cache, 'crates'), { sync: 'never' })
  }

  static inFolder(root: string): CrateStore {
    const incoming = join(root, INCOMING)
    return new CrateStore(new FolderPlace(root, { sync: 'each', incoming }), root)
  }

  /** Whether the bytes are in files of this machine. */
  get isLocal(): boolean {
    return this.#copies === null
  }

  /** Receives and hashes bytes; refuses them as soon as there are more than `maxBytes`. */
  async stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Staged> {
    const bytes = await this.#receive(source, maxBytes)
    let isWaiting = true
    const end = async () => {
      if (!isWaiting) return
      isWaiting = false
      await discard(bytes)
    }
    const keep = async (key: string) => {
      if (!isWaiting) return
      await this.#keep(key, bytes)
      await end()
    }
    return { ...bytes, keep, discard: end }
  }

  async probe(): Promise<void> {
    await makeFolder(this.#incoming)
    await probeFolder(this.#incoming)
    await probePlace(this.place)
  }

  /** Returns the path of a key's file, which may be missing; null when bytes are not in files. */
  path(key: string): string | null {
    return this.place.local?.(key) ?? null
  }

  /** Returns a file of this machine with a key's bytes, for ten minutes; null without bytes. */
  async localFile(key: string): Promise<LocalFile | null> {
    const path = this.#copies?.local(basename(key)) ?? this.path(key) ?? ''
    const stats = await fileStats(path)
    if (stats && this.#copies) {
      // So that no other process of this folder takes it for one that nobody uses.
      const now = new Date()
      await utimes(path, now, now)
    }
    const size = stats?.size ?? (this.#copies && (await this.#copy(key, this.#copies)))
    return size === null ? null : { path, size }
  }

  async size(key: string): Promise<number | null> {
    return (await this.place.head(key))?.size ?? null
  }

  /** Reads a key's bytes and returns their SHA-256 in lowercase hex; null when there are none. */
  async checksum(key: string): Promise<string | null> {
    const file = await this.open(key)
    return file && reading(() => sha256Of(file.bytes))
  }

  open(key: string, range?: ByteRange): Promise<OpenFile | null> {
    return this.place.open(key, range)
  }

  remove(key: string): Promise<void> {
    return this.place.remove(key)
  }

  /** Moves a key's bytes to where `add` can restore them from; returns that place. */
  async setAside(key: string): Promise<string> {
    const aside = `${ASIDE}/${key.split('/').slice(-2).join('-')}`
    const file = await this.place.read(key)
    if (file) await this.place.put(aside, file.bytes)
    await this.place.remove(key)
    return `${this.isLocal ? basename(this.place.name) : this.place.name}/${aside}`
  }

  /** Lists every key, in no particular order; skips what else is there. */
  async *list(): AsyncIterable<string> {
    for await (const { path } of this.place.list())
      if (cksumOfKey(path) !== null && !path.startsWith(`${INCOMING}/`)) yield path
  }

  /** Removes partial uploads of killed processes, and copies that nobody used for ten minutes. */
  async sweep(): Promise<void> {
    await sweepFolder(this.#incoming)
    this.#copied = 0
    const copies = this.#copies && (await readFolder(this.#copies.name))
    for (const { name } of copies ?? []) {
      const path = this.#copies?.local(name) ?? ''
      const stats = await fileStats(path)
      if (stats && Math.abs(Date.now() - stats.modified) > STAY_MS) await rm(path, { force: true })
    }
  }

  /** Copies a key's bytes; returns their size, and null without bytes of that checksum. */
  async #copy(key: string, copies: FolderPlace): Promise<number | null> {
    const file = await this.open(key)
    if (!file) return null
    // In a file, which is linked to where copies are.
    const copy = await reading(() => this.#receive(file.bytes, file.size, 0))
    try {
      if (copy.cksum !== cksumOfKey(key)) return null
      await copies.put(basename(key), bodyOf(copy), { cksum: copy.cksum })
      this.#copied += copy.size
      if (this.#copied > SWEPT_BYTES) await this.sweep()
      return copy.size
    } finally {
      await discard(copy)
    }
  }

  /** Receives bytes, `inMemory` if they are no more than so many. */
  async #receive(
    source: AsyncIterable<Uint8Array>,
    maxBytes: number,
    inMemory = FIRST_BYTES,
  ): Promise<CrateBytes> {
    const hash = createHash('sha256')
    const first: Uint8Array[] = []
    let size = 0
    let path: string | null = null
    let file: number | null = null
    try {
      for await (const chunk of source) {
        size += chunk.byteLength
        if (size > maxBytes) refuse('crate_too_big', { max: maxBytes })
        hash.update(chunk)
        if (file !== null) await writing(() => append(file as number, chunk))
        else {
          first.push(chunk)
          if (size <= inMemory) continue
          path = temporaryPath(join(this.#incoming, 'crate'))
          file = await disk.run('create', path, Buffer.concat(first), 0o444)
        }
      }
    } catch (error) {
      if (path !== null) await rm(path, { force: true })
      throw error
    } finally {
      if (file !== null) closeSync(file)
    }
    // A view, such as a small Buffer, would take all of its memory along to other threads.
    const content = path ?? new Uint8Array(Buffer.concat(first))
    return { size, cksum: hash.digest('hex'), content }
  }

  async #keep(key: string, bytes: CrateBytes): Promise<void> {
    const [body, { cksum }] = [bodyOf(bytes), bytes]
    // A folder takes them over whatever is there, which costs less than to look.
    const onlyIf = this.isLocal ? {} : { onlyIf: 'absent' as const }
    if ((await this.place.put(key, body, { cksum, ...onlyIf })) !== null) return
    // Bytes of an earlier attempt, whose answer may have been lost, are as good as ours.
    const there = (await this.place.checksum(key)) ?? (await this.checksum(key))
    if (there !== cksum) await this.place.put(key, body, { cksum })
  }
}

async function discard({ content }: CrateBytes): Promise<void> {
  if (typeof content === 'string') await rm(content, { force: true })
}

function bodyOf({ content, size }: CrateBytes): Uint8Array | LocalFile {
  return typeof content === 'string' ? { path: content, size } : content
}
