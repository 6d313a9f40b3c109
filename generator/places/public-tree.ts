import { rm } from 'node:fs/promises'
import { type Output, PUSH_FOLDER, type PublicFile } from '../../core/paths/tree.ts'
import type { BucketPlace } from './bucket-place.ts'
import type { Cdn } from './cdn.ts'
import type { ChangeNumber } from './change-number.ts'
import { disk } from './disk/disk.ts'
import { probeFolder } from './disk/durable.ts'
import { statOf } from './disk/files.ts'
import type { ShownFile, TextFile } from './disk/steps.ts'
import { FolderPlace } from './folder-place.ts'
import type { Mirror } from './mirror.ts'
import { probePlace } from './place.ts'
import { type HeldMutex, SyncBatch } from './sync-batch.ts'

/** The readers and copies of a tree. */
export interface TreeOptions {
  /** The version number of the tree; null for a tree that no daemon serves. */
  readonly changes?: ChangeNumber | null
  /** The bucket that has every change before it counts as done. */
  readonly uploads?: Mirror | null
  /** The CDN that learns which files have changed. */
  readonly cdn?: Cdn | null
  /** Where the tree is, unless that is `public` in the registry folder. */
  readonly place?: string | null
  /** Whether a write removes whatever is in its way, such as a file where a folder is needed. */
  readonly clears?: boolean
}

/**
 * The folder from which clients are served, or the bucket that several daemons share: of that, the
 * folder has what is not uploaded yet. A file is replaced atomically, and only when its bytes
 * differ, so that file times and copies of the tree change only when the content does.
 */
export class PublicTree {
  readonly root: string
  readonly changes: ChangeNumber | null
  readonly cdn: Cdn | null
  readonly mirror: Mirror | null
  /** The bucket that is the tree itself, which daemons share; null when the folder is the tree. */
  readonly shared: BucketPlace | null
  readonly place: string | null
  readonly #folder: FolderPlace
  readonly #sync: 'each' | 'never' | SyncBatch
  readonly #options: TreeOptions

  /**
   * `sync`: `each` syncs every change to disk before it returns, `never` is for a tree that is
   * easily rendered again, and a batch syncs later.
   */
  constructor(root: string, sync: 'each' | 'never' | SyncBatch, options: TreeOptions = {}) {
    const { changes = null, uploads = null, cdn = null, place = null } = options
    this.root = root
    this.changes = changes
    this.cdn = cdn
    this.mirror = uploads?.isTree ? null : uploads
    this.shared = uploads?.isTree ? uploads.bucket : null
    this.place = this.shared?.name ?? place
    this.#folder = new FolderPlace(root, { sync: 'never' })
    this.#sync = sync
    this.#options = options
  }

  /** Whether a bucket or a CDN follows the changes. */
  get isFollowed(): boolean {
    return this.#followers.length > 0
  }

  /** Runs `work` on this tree, then syncs all that it changed; `mutex`: one that is held. */
  async batch<T>(work: (tree: PublicTree) => Promise<T>, mutex?: HeldMutex): Promise<T> {
    const batch = this.newBatch(mutex)
    const result = await work(this.within(batch))
    await batch.sync()
    return result
  }

  newBatch(mutex?: HeldMutex): SyncBatch {
    return new SyncBatch(this.root, this.#followers, mutex)
  }

  /** Returns the same tree with changes that are synced together with `batch`, if ever. */
  within(batch: SyncBatch): PublicTree {
    if (this.#sync === 'never') return this
    return new PublicTree(this.root, batch, this.#options)
  }

  /** Returns the same tree for a repair: writes remove whatever is in their way. */
  clearing(): PublicTree {
    return new PublicTree(this.root, this.#sync, { ...this.#options, clears: true })
  }

  async probe(): Promise<void> {
    await probeFolder(this.root)
    if (this.shared) await probePlace(this.shared)
  }

  path(path: string): string {
    return this.#folder.local(path)
  }

  /** Writes `output` unless the file already has its bytes; returns whether it was written. */
  write(output: Output): Promise<boolean> {
    const path = this.path(output.path)
    return this.#change(async batch => {
      const write = () => disk.run('write', path, output.bytes)
      const isWritten = await this.#clearing(output.path, write)
      batch?.file(path)
      return isWritten
    })
  }

  /**
   * Shows `files` as `show` does, then writes texts as `write` does, all in one step. In between
   * makes `folders`, or removes half-written files from them; the caller must be the only writer
   * there.
   */
  async writeAll(
    texts: readonly TextFile[],
    folders: readonly string[],
    files: readonly ShownFile[] = [],
  ): Promise<void> {
    const written = texts.map(({ path, text }) => ({ path: this.path(path), text }))
    const shown = files.map(({ path, source }) => ({ path: this.path(path), source }))
    const places = folders.map(folder => this.path(folder))
    await this.#change(async batch => {
      const areLinks = await disk.run('writeAll', written, places, shown)
      for (const [at, { path }] of shown.entries()) batch?.shown(path, areLinks[at] === true)
      for (const { path } of written) batch?.file(path)
    })
  }

  /**
   * Shows the file `source`, whose bytes are on disk and never change, at `file`: as a hard link
   * where the file system allows it, else as a copy.
   */
  show(file: PublicFile, source: string): Promise<void> {
    const path = this.path(file.path)
    return this.#change(async batch => {
      const isLink = await this.#clearing(file.path, () => disk.run('show', source, path))
      batch?.shown(path, isLink)
    })
  }

  /** Has the bucket show a `.crate` that is not in a file here, by its key in the crate store. */
  async showStored(file: PublicFile, key: string): Promise<void> {
    if (this.#options.uploads) await this.#change(async batch => batch?.stored(file.path, key))
  }

  async read(path: string): Promise<Buffer | null> {
    const file = (await this.#folder.read(path)) ?? (await this.#beyond(path)?.read(path))
    return file?.bytes ?? null
  }

  /** Returns whether the file at `path` has these bytes; null when there is none. */
  async hasBytes(path: string, bytes: Buffer): Promise<boolean | null> {
    const place = (await this.#folder.head(path)) ? this.#folder : this.#beyond(path)
    const info = await place?.head(path)
    if (!info || info.size !== bytes.length) return info ? false : null
    return (await place?.read(path))?.bytes.equals(bytes) ?? null
  }

  async has(path: string): Promise<boolean> {
    return Boolean((await this.#folder.head(path)) ?? (await this.#beyond(path)?.head(path)))
  }

  /**
   * Removes the file at `path`, or if it `isWhole`, the folder with its content, and the folders
   * above that become empty.
   */
  remove(path: string, isWhole = false): Promise<void> {
    return this.#change(async batch => {
      await new FolderPlace(this.root, { sync: batch ?? 'never' }).remove(path)
      batch?.gone(path, isWhole)
    })
  }

  /**
   * Lists the files below `folder`, or only those directly in it, in no particular order; skips
   * half-written files.
   */
  async *list(folder = '', isFlat = false): AsyncIterable<string> {
    const seen = this.shared && new Set<string>()
    for await (const path of this.#folder.paths(folder, undefined, isFlat)) {
      if (path.startsWith(`${PUSH_FOLDER}/`)) continue
      seen?.add(path)
      yield path
    }
    const start = folder ? `${folder}/` : ''
    for await (const { path } of this.shared?.list(start, undefined, isFlat) ?? [])
      if (this.#beyond(path) && !seen?.has(path)) yield path
  }

  /** Returns the names of the folders directly below `path` that have files. */
  async folders(path: string): Promise<string[]> {
    const names = new Set<string>()
    for await (const below of this.list(path)) {
      const [name = '', ...rest] = below.slice(path.length + 1).split('/')
      if (rest.length > 0) names.add(name)
    }
    return [...names]
  }

  /** Returns the paths of the files directly in `folder`; '' is the root of the tree. */
  async files(folder: string): Promise<string[]> {
    const paths: string[] = []
    for await (const path of this.list(folder, true)) paths.push(path)
    return paths
  }

  /** Removes half-written files directly in `folder`; the caller must be the only writer. */
  async sweep(folder: string): Promise<void> {
    await disk.run('sweep', this.path(folder))
  }

  get #followers(): (Mirror | Cdn)[] {
    return [this.#options.uploads, this.cdn].filter(follower => follower != null)
  }

  /** The bucket where a file may be that is not here; undefined if it cannot be there. */
  #beyond(path: string): BucketPlace | undefined {
    if (this.#sync instanceof SyncBatch && this.#sync.isGone(path)) return undefined
    return this.shared ?? undefined
  }

  /**
   * Runs `work`, which changes the tree and tells the batch, renews the number of changes, and
   * syncs the batch unless somebody does so later.
   */
  async #change<T>(work: (batch: SyncBatch | null) => Promise<T>): Promise<T> {
    const own = this.#sync === 'each' ? this.newBatch() : null
    const batch = this.#sync instanceof SyncBatch ? this.#sync : own
    const result = await work(batch).finally(() => this.changes?.renew())
    await own?.sync()
    return result
  }

  /** Runs `work`, and again when something else was in the way, if that may be removed. */
  async #clearing<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!this.#options.clears || !IN_THE_WAY.has(code)) throw error
      await this.#makeRoom(path)
      return work()
    }
  }

  async #makeRoom(path: string): Promise<void> {
    for (const [at, letter] of [...path].entries()) {
      const folder = this.path(path.slice(0, at))
      if (letter === '/' && !(await statOf(folder))?.isDirectory())
        await rm(folder, { force: true })
    }
    if ((await statOf(this.path(path)))?.isDirectory())
      await rm(this.path(path), { recursive: true, force: true })
  }
}

/** The error codes of a write when something else is in its place. */
const IN_THE_WAY = new Set(['EEXIST', 'EISDIR', 'ENOENT', 'ENOTDIR', 'ENOTEMPTY'])
