import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../core/error/error.ts'
import { configPath, GIT_INDEX_FOLDER, isIndexFile, placeOf } from '../../core/paths/tree.ts'
import type { CrateStore } from './crate-store.ts'
import { fileChecksum, fileFacts, readBytes, sumOf } from './durable-file.ts'
import type { Bucket, ObjectFacts, OpenObject } from './s3/bucket.ts'
import { headersOf } from './s3/headers.ts'
import { reading } from './s3/reading.ts'
import { RefusedFiles } from './s3/refused-files.ts'
import { isStorageRefusal } from './storage-fault.ts'
import type { HeldMutex, TreeChanges } from './sync-batch.ts'
import type { TreeRecords } from './tree-records.ts'
import { inTurns, STAGES, stageOf } from './upload-order.ts'

/** What the bucket has at a path, as far as is known. */
interface Known {
  readonly etag: string
  readonly cksum: string | null
}

/** The most objects whose ETags are remembered. */
const REMEMBERED = 200_000

/** So often another writer may come in between; each time it has made progress. */
const ATTEMPTS = 20

/** ETags by path, as a list of the bucket had them. */
type Listed = { get(path: string): string | undefined }
const NOTHING: Listed = new Map()

/** How a mirror is written. */
export interface MirrorOptions extends Partial<TreeRecords> {
  /** How old the index may be in caches. */
  readonly cacheSeconds: number
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
  readonly #isReleased: TreeRecords['isReleased']
  readonly #keyAt: TreeRecords['keyAt']
  readonly #known = new LRUCache<string, Known>({ max: REMEMBERED })
  /** What an upload that failed leaves to the next one. */
  readonly #left = { files: new Set<string>(), stored: new Map(), gone: new Map() }

  /** `root`: the folder of the tree. */
  constructor(bucket: Bucket, root: string, crates: CrateStore, options: MirrorOptions) {
    this.place = bucket.place
    this.isShared = options.isShared ?? false
    this.#indexFile = options.indexFile
    this.#isReleased = options.isReleased ?? (async () => true)
    this.#keyAt = options.keyAt ?? (async () => null)
    this.#bucket = bucket
    this.#root = root
    this.#crates = crates
    this.#cacheSeconds = options.cacheSeconds
  }

  /**
   * Makes the bucket equal to the tree at these paths: what others refer to first, then the index,
   * then pages; removes last. When it fails, the next call does the rest, too; of a
   * shared one, the marks are rendered again, here or elsewhere. What `listed` has was there a
   * moment ago: that saves a request for each file that is the same. Throws `file_refused` when all
   * is done but for files that the storage refuses; the next call does not try them again.
   */
  async update(changes: TreeChanges, listed: Listed = NOTHING): Promise<void> {
    const files = new Set([...this.#left.files, ...changes.files])
    const stored = new Map([...this.#left.stored, ...changes.stored])
    const gone = new Map([...this.#left.gone, ...changes.gone])
    // What was published again after its removal had failed.
    for (const path of changes.stored.keys()) if (!changes.gone.has(path)) gone.delete(path)
    this.#left.files.clear()
    this.#left.stored.clear()
    this.#left.gone.clear()
    const mutex = (this.isShared && changes.mutex) || null
    const ours = (path: string) => !path.startsWith(`${GIT_INDEX_FOLDER}/`)
    const refused = new RefusedFiles(() => this.#takesFiles())
    try {
      await inTurns(stored, ([path, key]) => refused.try(path, () => this.#copyCrate(path, key)))
      for (const stage of STAGES) {
        const isNext = (path: string) =>
          stageOf(path) === stage && ours(path) && !refused.hides(path)
        await inTurns([...files].filter(isNext), path =>
          refused.try(path, () => this.#copyFile(path, listed, mutex)),
        )
      }
      await inTurns(gone, ([path, isWhole]) =>
        refused.try(path, () => this.#removeGone(path, isWhole, mutex)),
      )
      await refused.check()
    } catch (error) {
      // Of a shared one only what nobody can have written newer.
      for (const path of files)
        if (!this.isShared || placeOf(path).cache === 'immutable') this.#left.files.add(path)
      if (this.isShared) throw error
      for (const [path, key] of stored) this.#left.stored.set(path, key)
      for (const [path, isWhole] of gone) this.#left.gone.set(path, isWhole)
      throw error
    } finally {
      if (this.isShared)
        for (const path of files)
          if (ours(path) && !this.#left.files.has(path)) await rm(this.#path(path), { force: true })
    }
    refused.throw()
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

  /** Returns whether the bucket takes the `config.json` that it has, or else this tree's. */
  async #takesFiles(): Promise<boolean> {
    try {
      const there = await this.head(configPath)
      const body = await (there ? this.read(configPath) : readBytes(this.#path(configPath)))
      if (!body) return false
      const headers = headersOf(placeOf(configPath), this.#cacheSeconds)
      const onlyIf = there ? { etag: there.etag } : 'absent'
      // Where another writer was first, the storage takes files, too.
      await this.#bucket.put(configPath, { body, cksum: sumOf('sha256', body), headers, onlyIf })
      return true
    } catch (error) {
      if (isStorageRefusal(error)) return false
      throw error
    }
  }

  /**
   * A `.crate` never changes: it is written where there is none, or a damaged one. One that is
   * deleted, by now or while it is sent, is not left there.
   */
  async #copyCrate(path: string, key: string | null): Promise<void> {
    const local = this.#path(path)
    const sum = key?.slice(-70, -6) ?? null
    const isKept = async () => (sum === null ? await fileOf(local) : await this.#isReleased(sum))
    if (!(await isKept())) return
    const file = key === null ? await fileOf(local) : await this.#crates.localFile(key)
    if (!file) return
    const cksum = sum ?? (await fileChecksum(file.path)) ?? ''
    const there = await this.#bucket.head(path)
    if (there?.size === file.size && there.cksum === cksum) return
    const headers = headersOf(placeOf(path), this.#cacheSeconds)
    await this.#bucket.put(path, { body: { file: file.path, size: file.size }, cksum, headers })
    if (!(await isKept())) await this.#remove(path)
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

  /** A version that was deleted, and has come back since with the same bytes, stays. */
  async #removeGone(path: string, isWhole: boolean, mutex: HeldMutex | null): Promise<void> {
    if (isIndexFile(path)) return this.#copyFile(path, NOTHING, mutex)
    await whileHeld(path, mutex)
    if ((await this.#keyAt(path)) !== null) return
    const isThere = (one: string) => fileFacts(this.#path(one))
    if (!(await isThere(path))) await this.#remove(path)
    if (!isWhole) {
      const key = await this.#keyAt(path)
      return key === null ? undefined : this.#copyCrate(path, key)
    }
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

/** Throws if the mutex is lost; while it is held, nobody has written newer pages. */
async function whileHeld(path: string, mutex: HeldMutex | null): Promise<void> {
  if (mutex && !(await mutex.isHeld())) refuse('mutex_lost', { path })
}

async function fileOf(path: string): Promise<{ path: string; size: number } | null> {
  const facts = await fileFacts(path)
  return facts && { path, size: facts.size }
}
