import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { configPath, type Output, type Place, PUSH_FOLDER } from '../../core/paths/tree.ts'
import type { Cdn } from './cdn.ts'
import type { ChangeNumber } from './change-number.ts'
import { disk } from './disk/disk.ts'
import { isTemporary, type TextFile } from './disk/steps.ts'
import {
  fileFacts,
  probeFolder,
  readBytes,
  readFolder,
  removeIfEmpty,
  statOf,
  sweepFolder,
} from './durable-file.ts'
import type { Mirror } from './mirror.ts'
import { type HeldMutex, SyncBatch, type TreeFollower } from './sync-batch.ts'

/** What follows the changes of a tree. */
export interface Followers {
  readonly mirror: Mirror | null
  readonly cdn: Cdn | null
}

const NOBODY: Followers = { mirror: null, cdn: null }

/**
 * The folder from which clients are served, or the bucket that several daemons share: of that, the
 * folder has what is not uploaded yet. A file is replaced atomically, and only when its bytes
 * differ, so that file times and copies of the tree change only when the content does.
 */
export class PublicTree {
  readonly root: string
  readonly #sync: 'each' | 'never' | SyncBatch
  readonly #clears: boolean
  /** What changes with every change of the tree; null for a tree that no daemon serves. */
  readonly changes: ChangeNumber | null
  /** The copy in a bucket, which gets every change before it counts as done. */
  readonly mirror: Mirror | null
  /** What keeps files of the tree for readers, and is told what has changed. */
  readonly cdn: Cdn | null
  readonly #followers: readonly TreeFollower[]

  /**
   * `sync`: `each` syncs every change to disk before it returns, `never` is for a tree that is
   * easily rendered again, and a batch syncs later. With `clears`, a write removes whatever is in
   * its way, such as a file where a folder is needed.
   */
  constructor(
    root: string,
    sync: 'each' | 'never' | SyncBatch,
    changes: ChangeNumber | null = null,
    clears = false,
    { mirror, cdn }: Followers = NOBODY,
  ) {
    this.root = root
    this.changes = changes
    this.#sync = sync
    this.#clears = clears
    this.mirror = mirror
    this.cdn = cdn
    this.#followers = [mirror, cdn].filter(one => one !== null)
  }

  /** Runs `work` on this tree, then syncs all that it changed; `mutex`: one that is held. */
  async batch<T>(work: (tree: PublicTree) => Promise<T>, mutex?: HeldMutex): Promise<T> {
    const batch = this.newBatch(mutex)
    const result = await work(this.within(batch))
    await batch.sync()
    return result
  }

  /** Returns an empty batch for changes of this tree. */
  newBatch(mutex?: HeldMutex): SyncBatch {
    return new SyncBatch(this.root, this.#followers, mutex)
  }

  /** Returns the same tree with changes that are synced together with `batch`. */
  within(batch: SyncBatch): PublicTree {
    return new PublicTree(this.root, batch, this.changes, this.#clears, this)
  }

  /** Returns the same tree for a repair: writes remove whatever is in their way. */
  clearing(): PublicTree {
    return new PublicTree(this.root, this.#sync, this.changes, true, this)
  }

  /** The bucket that is the tree itself, which daemons share; null when the folder is the tree. */
  get shared(): Mirror | null {
    return this.mirror?.isShared ? this.mirror : null
  }

  /** Throws when the tree cannot be written to. */
  async probe(): Promise<void> {
    await probeFolder(this.root)
    await this.shared?.head(configPath)
  }

  /** Returns the path on disk for a path of the tree. */
  path(path: string): string {
    return join(this.root, ...path.split('/'))
  }

  /** Writes `output` unless the file already has its bytes; returns whether it was written. */
  async write(output: Output): Promise<boolean> {
    const path = this.path(output.path)
    const isWritten = await this.#change(output.path, () => disk.run('write', path, output.bytes))
    await this.#note(batch => batch.file(path))
    return isWritten
  }

  /**
   * Writes texts as `write` does, all in one step. First makes `folders`, or removes half-written
   * files from them; the caller must be the only writer there.
   */
  async writeAll(texts: readonly TextFile[], folders: readonly string[]): Promise<void> {
    const files = texts.map(({ path, text }) => ({ path: this.path(path), text }))
    const places = folders.map(folder => this.path(folder))
    await this.#noticed(() => disk.run('writeAll', files, places))
    await this.#note(batch => {
      for (const { path } of files) batch.file(path)
    })
  }

  /**
   * Shows the file `source`, whose bytes never change, at `place`: as a hard link where the file
   * system allows it, else as a copy. Returns whether anything had to be done.
   */
  async show(place: Place, source: string): Promise<boolean> {
    const path = this.path(place.path)
    const isDone = await this.#change(place.path, () => disk.run('show', source, path))
    await this.#note(batch => batch.file(path))
    return isDone
  }

  /** Has the mirror show a `.crate` that is not in a file here, by its key in the crate store. */
  async showStored(place: Place, key: string): Promise<void> {
    if (this.mirror) await this.#note(batch => batch.stored(place.path, key))
  }

  /** Reads the bytes at `path`; returns null when there is no such file. */
  async read(path: string): Promise<Buffer | null> {
    return (await readBytes(this.path(path))) ?? (await this.#beyond(path)?.read(path)) ?? null
  }

  /** Returns whether there is a file at `path`. */
  async has(path: string): Promise<boolean> {
    if (await fileFacts(this.path(path))) return true
    return Boolean(await this.#beyond(path)?.head(path))
  }

  /** Removes the file at `path` and the folders that become empty. */
  remove(path: string): Promise<void> {
    return this.#remove(path, false)
  }

  /** Lists the files below `folder`, in no particular order; skips half-written files. */
  async *list(folder = ''): AsyncIterable<string> {
    const seen = this.shared && new Set<string>()
    for await (const path of this.#listHere(folder)) {
      seen?.add(path)
      yield path
    }
    for await (const path of this.#listBeyond(folder, false)) if (!seen?.has(path)) yield path
  }

  async *#listHere(folder: string): AsyncIterable<string> {
    for (const entry of await readFolder(this.path(folder))) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (path === PUSH_FOLDER) continue
      if (entry.isDirectory()) yield* this.#listHere(path)
      else if (!isTemporary(entry.name)) yield path
    }
  }

  /** Removes half-written files directly in `folder`; the caller must be the only writer. */
  async sweep(folder: string): Promise<void> {
    await sweepFolder(this.path(folder))
  }

  /** Removes half-written files anywhere in the tree that have not changed for an hour. */
  async sweepOld(folder = this.root): Promise<void> {
    await sweepFolder(folder, Date.now() - 3_600_000)
    for (const entry of await readFolder(folder)) {
      if (entry.isDirectory()) await this.sweepOld(join(folder, entry.name))
    }
  }

  /** Returns the names of the folders directly below `path`. */
  async folders(path: string): Promise<string[]> {
    const entries = await readFolder(this.path(path))
    const names = new Set(entries.filter(one => one.isDirectory()).map(one => one.name))
    for await (const below of this.#listBeyond(path, false)) {
      const [name = '', ...rest] = below.slice(path.length + 1).split('/')
      if (rest.length > 0) names.add(name)
    }
    return [...names]
  }

  /** Returns the paths of the files directly in `folder`; '' is the root of the tree. */
  async files(folder: string): Promise<string[]> {
    const entries = await readFolder(this.path(folder))
    const names = entries
      .filter(entry => entry.isFile() && !isTemporary(entry.name))
      .map(entry => entry.name)
    const paths = new Set(names.map(name => (folder ? `${folder}/${name}` : name)))
    for await (const path of this.#listBeyond(folder, true)) paths.add(path)
    return [...paths]
  }

  /** Removes a folder with its content, and the parent folders that become empty. */
  removeFolder(path: string): Promise<void> {
    return this.#remove(path, true)
  }

  /** The bucket where a file may be that is not here; undefined if it cannot be there. */
  #beyond(path: string): Mirror | undefined {
    if (this.#sync instanceof SyncBatch && this.#sync.isGone(path)) return undefined
    return this.shared ?? undefined
  }

  async *#listBeyond(folder: string, isFlat: boolean): AsyncIterable<string> {
    if (!this.shared) return
    for await (const path of this.shared.list(folder ? `${folder}/` : '', isFlat))
      if (this.#beyond(path)) yield path
  }

  async #remove(path: string, isWhole: boolean): Promise<void> {
    const folder = await this.#noticed(async () => {
      await rm(this.path(path), { recursive: true, force: true })
      return this.path(await this.#prune(dirname(path)))
    })
    await this.#note(batch => {
      batch.folder(folder)
      batch.gone(path, isWhole)
    })
  }

  /** Removes a folder and its parents while they are empty; returns the first that is not. */
  async #prune(path: string): Promise<string> {
    let folder = path
    while (folder !== '.' && (await removeIfEmpty(this.path(folder)))) folder = dirname(folder)
    return folder
  }

  /** Registers what has to be synced, and syncs it unless a batch does so later. */
  async #note(say: (batch: SyncBatch) => void): Promise<void> {
    if (this.#sync === 'never') return
    const batch = this.#sync === 'each' ? this.newBatch() : this.#sync
    say(batch)
    if (this.#sync === 'each') await batch.sync()
  }

  /** Runs `work`, which changes the tree, and renews the number of changes. */
  async #noticed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      await this.changes?.renew()
    }
  }

  #change<T>(path: string, work: () => Promise<T>): Promise<T> {
    return this.#noticed(() => this.#again(path, work))
  }

  /** Runs `work`, and again if its folder was removed as empty or something else was in the way. */
  async #again<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      const isInTheWay = this.#clears && IN_THE_WAY.has(code)
      if (code !== 'ENOENT' && !isInTheWay) throw error
      if (this.#clears) await this.#makeRoom(path)
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
const IN_THE_WAY = new Set(['EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY'])
