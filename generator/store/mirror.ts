import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { refuse } from '../../core/error/error.ts'
import { configPath, GIT_INDEX_FOLDER, INDEX_FOLDER, placeOf } from '../../core/paths/tree.ts'
import type { IndexFile } from './catalog/index-file.ts'
import type { CrateStore } from './crate-store.ts'
import { fileChecksum, fileFacts, isFolder, isMissing } from './durable-file.ts'
import type { HeldMutex } from './process-mutex.ts'
import type { Bucket, ObjectFacts, OpenObject } from './s3/bucket.ts'
import { reading } from './s3/connection.ts'
import { headersOf } from './s3/headers.ts'
import { stageOf } from './upload-order.ts'

/** What has changed in the public tree: paths of files, and what is shown or gone. */
export interface TreeChanges {
  /** Files that were written; those that did not change belong here, too. */
  readonly files: Iterable<string>
  /** `.crate` files that are not in the tree: keys of the crate store by path. */
  readonly stored: ReadonlyMap<string, string>
  /** Paths that were removed, and whether with all below them. */
  readonly gone: ReadonlyMap<string, boolean>
  /** What the writer of a shared bucket holds; null if what it writes is read again before. */
  readonly mutex?: HeldMutex | null
}

/** What the bucket has at a path, as far as is known. */
interface Known {
  readonly etag: string
  readonly cksum: string | null
}

/** The most uploads at a time, and the most objects whose ETags are remembered. */
const AT_ONCE = 32
const REMEMBERED = 200_000

/** So often another writer may come in between; each time it has made progress. */
const ATTEMPTS = 20

/** ETags by path, as a list of the bucket had them. */
type Listed = { get(path: string): string | undefined }

const NOTHING: Listed = new Map()

/** How a mirror is written. */
export interface MirrorOptions {
  /** How old the index may be in caches. */
  readonly cacheSeconds: number
  /** Returns an index file as the records have it now; null where there is none. */
  readonly indexFile?: (path: string) => Promise<IndexFile | null>
  /**
   * Whether several daemons write it: the bucket is the tree then, and a file is in the folder of a
   * daemon only until it is uploaded, or has failed to be.
   */
  readonly isShared?: boolean
}

/** A file as it is to be in the bucket, and the `.crate` files that come before it. */
interface Content {
  readonly bytes: Buffer
  readonly unshown: ReadonlyMap<string, string>
}

/**
 * A copy of the public tree in a bucket, for readers. A file is written only over the one whose
 * ETag was known before its bytes were read, index files from the records, all others here; of a
 * shared bucket, whose pages are not read again, before their writer was seen to hold their mutex.
 * So of two builders neither leaves an older file. The git index is not copied.
 */
export class Mirror {
  readonly place: string
  readonly isShared: boolean
  readonly #bucket: Bucket
  readonly #root: string
  readonly #crates: CrateStore
  readonly #cacheSeconds: number
  readonly #indexFile: MirrorOptions['indexFile']
  readonly #known = new LRUCache<string, Known>({ max: REMEMBERED })
  readonly #limit = pLimit(AT_ONCE)
  /** What an upload that failed leaves to the next one. */
  readonly #left = { files: new Set<string>(), stored: new Map(), gone: new Map() }

  /** `root`: the folder of the tree. */
  constructor(bucket: Bucket, root: string, crates: CrateStore, options: MirrorOptions) {
    this.place = bucket.place
    this.isShared = options.isShared ?? false
    this.#indexFile = options.indexFile
    this.#bucket = bucket
    this.#root = root
    this.#crates = crates
    this.#cacheSeconds = options.cacheSeconds
  }

  /**
   * Makes the bucket equal to the tree at these paths: what others refer to first, then the index,
   * then pages; removes last. When it fails, the next call does the rest, too; of a
   * shared one, the marks are rendered again, here or elsewhere. What `listed` has was there a
   * moment ago: that saves a request for each file that is the same.
   */
  async update(changes: TreeChanges, listed: Listed = NOTHING): Promise<void> {
    const files = new Set([...this.#left.files, ...changes.files])
    const stored = new Map([...this.#left.stored, ...changes.stored])
    const gone = new Map([...this.#left.gone, ...changes.gone])
    this.#left.files.clear()
    this.#left.stored.clear()
    this.#left.gone.clear()
    const ours = [...files].filter(path => !path.startsWith(`${GIT_INDEX_FOLDER}/`))
    const mutex = (this.isShared && changes.mutex) || null
    const stages = [0, 1, 2].map(stage => ours.filter(path => stageOf(path) === stage))
    try {
      await this.#all([...stored], ([path, key]) => this.#copyCrate(path, key))
      for (const paths of stages)
        await this.#all(paths, path => this.#copyFile(path, listed, mutex))
      await this.#all([...gone], ([path, isWhole]) => this.#removeGone(path, isWhole, mutex))
    } catch (error) {
      // Of a shared one only what nobody can have written newer.
      for (const path of files)
        if (!this.isShared || placeOf(path).cache === 'immutable') this.#left.files.add(path)
      if (this.isShared) throw error
      for (const [path, key] of stored) this.#left.stored.set(path, key)
      for (const [path, isWhole] of gone) this.#left.gone.set(path, isWhole)
      throw error
    } finally {
      const uploaded = this.isShared ? ours.filter(path => !this.#left.files.has(path)) : []
      for (const path of uploaded) await rm(this.#path(path), { force: true })
    }
  }

  /** Returns the facts of a file in the bucket; null when there is none. */
  head(path: string): Promise<ObjectFacts | null> {
    return this.#bucket.head(path)
  }

  /** Opens a file in the bucket; null when there is none. */
  open(path: string): Promise<OpenObject | null> {
    return this.#bucket.get(path)
  }

  /** Reads a file in the bucket; null when there is none. */
  async read(path: string): Promise<Buffer | null> {
    const found = await this.open(path)
    if (!found) return null
    const parts: Buffer[] = []
    await reading(async () => {
      for await (const part of found.bytes) parts.push(part)
    })
    return Buffer.concat(parts)
  }

  /** Lists the files in the bucket whose paths begin with `start`; with `isFlat`, in no folder. */
  async *list(start: string, isFlat = false): AsyncIterable<string> {
    for await (const { key } of this.#bucket.list(start, isFlat)) yield key
  }

  /** Lists ETags by path, those of 200,000 files at most, so that `update` asks less. */
  async learn(): Promise<Listed> {
    const listed = new LRUCache<string, string>({ max: REMEMBERED })
    for await (const { key, etag } of this.#bucket.list()) {
      this.#known.set(key, { etag, cksum: null })
      listed.set(key, etag)
    }
    return listed
  }

  /** Works on all items; waits for those that have begun when one fails. */
  async #all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    let isFailing = false
    const ends = await Promise.allSettled(
      items.map(item =>
        this.#limit(async () => {
          if (isFailing) return
          try {
            await work(item)
          } catch (error) {
            isFailing = true
            throw error
          }
        }),
      ),
    )
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /** A `.crate` never changes: it is written where there is none, or a damaged one. */
  async #copyCrate(path: string, key: string | null): Promise<void> {
    const local = this.#path(path)
    const file = key === null ? await fileOf(local) : await this.#crates.localFile(key)
    if (!file) return
    const cksum = key?.slice(-70, -6) ?? (await fileChecksum(file.path)) ?? ''
    const there = await this.#bucket.head(path)
    if (there?.size === file.size && there.cksum === cksum) return
    const headers = headersOf(placeOf(path), this.#cacheSeconds)
    await this.#bucket.put(path, { body: { file: file.path, size: file.size }, cksum, headers })
  }

  async #copyFile(path: string, listed: Listed, mutex: HeldMutex | null): Promise<void> {
    if (path.endsWith('.crate')) return this.#copyCrate(path, null)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Known before the bytes are read: they are then at least as new as what is overwritten.
      const known = this.#known.get(path)
      const there = known ?? (await this.#bucket.head(path))
      if (!known) await whileHeld(path, mutex)
      const content = await this.#content(path)
      if (content === null) {
        await this.#remove(path)
        // Another builder may have written it meanwhile, for records that are newer.
        if ((await this.#content(path)) === null) return
        continue
      }
      // One by one: this upload has one of the places that they would wait for.
      for (const [crate, key] of content.unshown) await this.#copyCrate(crate, key)
      const isCurrent = known === undefined || known.etag === listed.get(path)
      const written = await this.#replace(path, content.bytes, there, isCurrent)
      if (written) return void this.#known.set(path, written)
      this.#known.delete(path)
    }
    refuse('bucket_unreachable', { reason: `${path} is changed by others again and again` })
  }

  /**
   * Replaces what is known to be in the bucket; returns null when something else is there. If that
   * has the same bytes and is only remembered, asks: others may have written what it was before.
   */
  async #replace(
    path: string,
    body: Buffer,
    there: Known | null,
    isCurrent: boolean,
  ): Promise<Known | null> {
    const cksum = sumOf('sha256', body)
    if (there && (there.cksum === cksum || there.etag === `"${sumOf('md5', body)}"`)) {
      const etag = isCurrent ? there.etag : (await this.#bucket.head(path))?.etag
      return etag === there.etag ? { etag, cksum } : null
    }
    const headers = headersOf(placeOf(path), this.#cacheSeconds)
    const onlyIf = there ? { etag: there.etag } : 'absent'
    const etag = await this.#bucket.put(path, { body, cksum, headers, onlyIf })
    return etag === null ? null : { etag, cksum }
  }

  async #content(path: string): Promise<Content | null> {
    if (!this.#indexFile || !isIndexFile(path)) {
      const bytes = await readBytes(this.#path(path))
      return bytes && { bytes, unshown: new Map() }
    }
    const file = await this.#indexFile(path)
    return file && { bytes: Buffer.from(file.text), unshown: file.unshown }
  }

  async #removeGone(path: string, isWhole: boolean, mutex: HeldMutex | null): Promise<void> {
    if (isIndexFile(path)) return this.#copyFile(path, NOTHING, mutex)
    await whileHeld(path, mutex)
    const isThere = (one: string) => fileFacts(this.#path(one))
    if (!(await isThere(path))) await this.#remove(path)
    if (!isWhole) return
    for await (const { key } of this.#bucket.list(`${path}/`))
      if (!(await isThere(key))) await this.#remove(key)
  }

  #remove(path: string): Promise<void> {
    this.#known.delete(path)
    return this.#bucket.remove(path)
  }

  #path(path: string): string {
    return join(this.#root, ...path.split('/'))
  }
}

/** Returns whether a path is that of a crate's index file. */
export function isIndexFile(path: string): boolean {
  return path.startsWith(`${INDEX_FOLDER}/`) && path !== configPath
}

/** Throws if the mutex is lost; while it is held, nobody has written newer pages. */
async function whileHeld(path: string, mutex: HeldMutex | null): Promise<void> {
  if (mutex && !(await mutex.isHeld())) refuse('mutex_lost', { path })
}

async function fileOf(path: string): Promise<{ path: string; size: number } | null> {
  const facts = await fileFacts(path)
  return facts && { path, size: facts.size }
}

async function readBytes(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isMissing(error) || isFolder(error)) return null
    throw error
  }
}

function sumOf(algorithm: 'md5' | 'sha256', bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex')
}
