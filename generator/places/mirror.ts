import { rm } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { refuse } from '../../core/error/error.ts'
import { cksumOfKey } from '../../core/paths/crates.ts'
import { configPath, GIT_INDEX_FOLDER, isIndexFile, publicFile } from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import type { BucketPlace } from './bucket-place.ts'
import type { CrateStore } from './crate-store.ts'
import { isStorageRefusal } from './disk/fault.ts'
import { sumOf } from './disk/files.ts'
import type { FolderPlace } from './folder-place.ts'
import type { LocalFile } from './place.ts'
import { RefusedFiles } from './s3/refused-files.ts'
import { STAGES, stageOf } from './sync.ts'
import type { HeldMutex, TreeChanges } from './sync-batch.ts'

/** An index file as the records have it now. */
export interface IndexFile {
  readonly text: string
  /** The `.crate` files that are perhaps not shown yet: paths, with keys of the crate store. */
  readonly unshown: Iterable<readonly [path: string, key: string]>
}

/** The questions of a mirror to the records of its tree. */
export interface TreeRecords {
  /** Whether daemons of several machines may have them. */
  readonly areShared: boolean
  /** Returns an index file as the records have it now; null where there is none. */
  readonly indexFile: (path: string) => Promise<IndexFile | null>
  /** Returns whether the records have a release of these bytes; by default, all are. */
  readonly isReleased: (cksum: string) => Promise<boolean>
  /** Returns the key of the version whose `.crate` or folder is at a path; null if there is none. */
  readonly keyAt: (path: string) => Promise<string | null>
}

/** An object in the bucket, as far as it is known. */
interface Uploaded {
  readonly etag: string
  readonly cksum: string | null
}

const REMEMBERED = 200_000

/** How many times another writer may come first; each time that writer makes progress. */
const ATTEMPTS = 20

/** ETags by path, as a list of the bucket had them. */
type Listed = { get(path: string): string | undefined }
const NOTHING: Listed = new Map()

type Todo = Omit<TreeChanges, 'mutex'>
const NOTHING_LEFT: Todo = { files: [], stored: new Map(), gone: new Map() }

/**
 * The public tree in a bucket, for readers. A file is written only over the one whose ETag was
 * known before its bytes were read, index files from the records, all others from the folder, so of
 * two builders neither leaves an older file. The git index is not copied.
 *
 * The bucket is a copy of the folder, or the tree itself, which several daemons write: then a
 * daemon's folder has a file only until it is uploaded or refused. Pages are not read again there,
 * so an object that this process did not write is replaced only while it holds the mutex.
 */
export class Mirror {
  readonly bucket: BucketPlace
  readonly isTree: boolean
  readonly #folder: FolderPlace
  readonly #crates: CrateStore
  readonly #records: Partial<TreeRecords>
  readonly #uploads = new LRUCache<string, Uploaded>({ max: REMEMBERED })
  /** The work that a failed upload leaves to the next. */
  #left: Todo = NOTHING_LEFT

  /** `folder` has the tree. Without records, index files come from it, too. */
  constructor(
    bucket: BucketPlace,
    folder: FolderPlace,
    crates: CrateStore,
    records: Partial<TreeRecords> = {},
    isTree = false,
  ) {
    this.bucket = bucket
    this.#folder = folder
    this.#crates = crates
    this.#records = records
    this.isTree = isTree
  }

  /**
   * Makes the bucket equal to the tree at these paths, by `stageOf`; removes last. After a failure,
   * the next call does the rest, too, but for refused files (`file_refused`). `listed` has the
   * ETags of a moment ago, which saves a request for each file that is the same.
   */
  async update(changes: TreeChanges, listed = NOTHING): Promise<void> {
    const todo = this.#withLeft(changes)
    try {
      await this.#upload(todo, listed, (this.isTree && changes.mutex) || null)
    } finally {
      const left = new Set(this.#left.files)
      if (this.isTree)
        for (const path of todo.files)
          if (isCopied(path) && !left.has(path)) await rm(this.#folder.local(path), { force: true })
    }
  }

  /** Uploads changes. It replaces and removes files of others only under `mutex`, if given. */
  async #upload(todo: Todo, listed: Listed, mutex: HeldMutex | null): Promise<void> {
    const refused = new RefusedFiles(() => this.#takesFiles())
    try {
      await forEachConcurrently(todo.stored, ([path, key]) =>
        refused.try(path, () => this.#copyCrate(path, key)),
      )
      for (const stage of STAGES) {
        const isNext = (path: string) =>
          stageOf(path) === stage && isCopied(path) && !refused.hides(path)
        await forEachConcurrently([...todo.files].filter(isNext), path =>
          refused.try(path, () => this.#copyFile(path, listed, mutex)),
        )
      }
      await forEachConcurrently(todo.gone, ([path, isWhole]) =>
        refused.try(path, () => this.#removeGone(path, isWhole, mutex)),
      )
      await refused.check()
    } catch (error) {
      // Uploads may overlap: what another one has left stays.
      this.#left = joined(this.#left, this.isTree ? onlyImmutable(todo) : todo)
      throw error
    }
    refused.throw()
  }

  #withLeft(changes: TreeChanges): Todo {
    const left = { ...this.#left, gone: new Map(this.#left.gone) }
    // Published again after its removal had failed.
    for (const path of changes.stored.keys()) left.gone.delete(path)
    this.#left = NOTHING_LEFT
    return joined(left, changes)
  }

  /** Lists ETags by path, those of 200,000 files at most, so that `update` asks less. */
  async learn(): Promise<Listed> {
    const listed = new LRUCache<string, string>({ max: REMEMBERED })
    for await (const { path, etag } of this.bucket.list()) {
      this.#uploads.set(path, { etag: etag ?? '', cksum: null })
      listed.set(path, etag ?? '')
    }
    return listed
  }

  /** Returns whether the bucket takes the `config.json` that it has, or else this tree's. */
  async #takesFiles(): Promise<boolean> {
    try {
      const there = await this.bucket.read(configPath)
      const body = (there ?? (await this.#folder.read(configPath)))?.bytes
      if (!body) return false
      // If another writer was first, the storage does take files.
      await this.bucket.put(configPath, body, { onlyIf: there ?? 'absent' })
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
    const { isReleased = async () => true } = this.#records
    const sum = key && cksumOfKey(key)
    const isKept = async () =>
      sum ? await isReleased(sum) : (await this.#folder.head(path)) !== null
    if (!(await isKept())) return
    const file = key === null ? await this.#shown(path) : await this.#crates.localFile(key)
    if (!file) return
    const cksum = sum ?? (await this.#folder.checksum(path)) ?? ''
    const there = await this.bucket.head(path)
    if (there?.size === file.size && there.cksum === cksum) return
    await this.bucket.put(path, file, { cksum })
    if (!(await isKept())) await this.#remove(path)
  }

  async #shown(path: string): Promise<LocalFile | null> {
    const file = await this.#folder.head(path)
    return file && { path: this.#folder.local(path), size: file.size }
  }

  async #copyFile(path: string, listed: Listed, mutex: HeldMutex | null): Promise<void> {
    if (path.endsWith('.crate')) return this.#copyCrate(path, null)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Read before the bytes, which are then at least as new as the object that they overwrite.
      const uploaded = this.#uploads.get(path)
      const there = uploaded ?? (await this.bucket.head(path))
      if (!uploaded) await whileHeld(path, mutex)
      const file = await this.#content(path)
      if (file === null) {
        await this.#remove(path)
        // Another builder may have written it meanwhile, for records that are newer.
        if ((await this.#content(path)) === null) return
        continue
      }
      // One by one: this upload has one of the places that they would wait for.
      for (const [crate, key] of file.unshown) await this.#copyCrate(crate, key)
      const isCurrent = uploaded === undefined || uploaded.etag === listed.get(path)
      const written = await this.#replace(path, file.bytes, there, isCurrent)
      if (written) return void this.#uploads.set(path, written)
      this.#uploads.delete(path)
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
    there: Uploaded | null,
    isCurrent: boolean,
  ): Promise<Uploaded | null> {
    const cksum = sha256(body)
    if (there && (there.cksum === cksum || there.etag === `"${sumOf('md5', body)}"`)) {
      const etag = isCurrent ? there.etag : (await this.bucket.head(path))?.etag
      return etag === there.etag ? { etag, cksum } : null
    }
    const etag = await this.bucket.put(path, body, { cksum, onlyIf: there ?? 'absent' })
    return etag === null ? null : { etag, cksum }
  }

  async #content(path: string): Promise<{ bytes: Buffer; unshown: IndexFile['unshown'] } | null> {
    const { indexFile } = this.#records
    if (!indexFile || !isIndexFile(path)) {
      const file = await this.#folder.read(path)
      return file && { bytes: file.bytes, unshown: [] }
    }
    const file = await indexFile(path)
    return file && { bytes: Buffer.from(file.text), unshown: file.unshown }
  }

  /** A version that was deleted, and has come back since with the same bytes, stays. */
  async #removeGone(path: string, isWhole: boolean, mutex: HeldMutex | null): Promise<void> {
    if (isIndexFile(path)) return this.#copyFile(path, NOTHING, mutex)
    await whileHeld(path, mutex)
    const { keyAt = async () => null } = this.#records
    if ((await keyAt(path)) !== null) return
    const removeUnless = async (file: string) => {
      if (!(await this.#folder.head(file))) await this.#remove(file)
    }
    await removeUnless(path)
    if (!isWhole) {
      const key = await keyAt(path)
      return key === null ? undefined : this.#copyCrate(path, key)
    }
    for await (const below of this.bucket.list(`${path}/`)) await removeUnless(below.path)
  }

  #remove(path: string): Promise<void> {
    this.#uploads.delete(path)
    return this.bucket.remove(path)
  }
}

function joined(todo: Todo, other: Todo): Todo {
  return {
    files: new Set([...todo.files, ...other.files]),
    stored: new Map([...todo.stored, ...other.stored]),
    gone: new Map([...todo.gone, ...other.gone]),
  }
}

/** Others may have newer copies of what changes, which marks render again. */
function onlyImmutable({ files }: Todo): Todo {
  const kept = [...files].filter(path => publicFile(path).cache === 'immutable')
  return { ...NOTHING_LEFT, files: kept }
}

function isCopied(path: string): boolean {
  return !path.startsWith(`${GIT_INDEX_FOLDER}/`)
}

/** Throws if the mutex is lost; while it is held, nobody has written newer pages. */
async function whileHeld(path: string, mutex: HeldMutex | null): Promise<void> {
  if (mutex && !(await mutex.isHeld())) refuse('mutex_lost', { path })
}
