import { dirname, relative, sep } from 'node:path'
import { addFolders, type Folders, recordNamed, syncChanges } from './disk/durable.ts'

/** A mutex that its holder may have lost. */
export interface HeldMutex {
  isHeld(): Promise<boolean>
}

/** A change of the public tree: paths of files, and `.crate` files that are shown or gone. */
export interface TreeChanges {
  /** Files that were written; those that did not change belong here, too. */
  readonly files: Iterable<string>
  /** `.crate` files that are not in the tree: keys of the crate store by path. */
  readonly stored: ReadonlyMap<string, string>
  /** Paths that were removed, and whether with all below them. */
  readonly gone: ReadonlyMap<string, boolean>
  /** The mutex of the writer of a shared bucket; null for a writer that reads again before. */
  readonly mutex?: HeldMutex | null
}

/** A mirror or CDN, which gets every change of a tree. */
interface TreeFollower {
  /** Follows changes that are on disk; when it fails, their marks stay. */
  update(changes: TreeChanges): Promise<void>
}

/**
 * Collects changed files to sync them all at once, which takes a fraction of the time. Unchanged
 * files belong in the batch too: a killed process may have written them without a sync. A caller
 * that records a change as done waits for `sync` first; with a mirror, it has the files then, too.
 */
export class SyncBatch {
  readonly #root: string
  readonly #followers: readonly TreeFollower[]
  readonly #mutex: HeldMutex | null
  #left = nothing()

  /**
   * `root`: the folder that contains all the files; `mutex`: what the writer of a shared bucket
   * holds, and without which nothing is replaced there.
   */
  constructor(
    root: string,
    followers: readonly TreeFollower[] = [],
    mutex: HeldMutex | null = null,
  ) {
    this.#root = root
    this.#followers = followers
    this.#mutex = mutex
  }

  file(path: string): void {
    this.#left.files.add(path)
    this.folder(dirname(path))
  }

  /** Adds a copy of a file, or of a hard link only its name: the bytes are on disk. */
  shown(path: string, isLink: boolean): void {
    this.folder(dirname(path))
    if (!isLink) this.#left.files.add(path)
    else if (this.#followers.length > 0) this.#left.links.push(path)
  }

  /** Adds the entries of a folder, and of its parents as far as they may be new. */
  folder(path: string): void {
    addFolders(this.#left.folders, path, dirname(this.#root))
  }

  /** Adds a `.crate` that only a mirror shows: its path in the tree, its key in the crate store. */
  stored(path: string, key: string): void {
    if (this.#followers.length > 0) this.#left.stored.set(path, key)
  }

  /** Adds what was removed from the tree, perhaps with all below it. */
  gone(path: string, isWhole: boolean): void {
    if (this.#followers.length > 0) this.#left.gone.set(path, isWhole)
  }

  /** Returns whether a path was removed, perhaps with a folder above it, and is not synced yet. */
  isGone(path: string): boolean {
    const { gone } = this.#left
    if (gone.has(path)) return true
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
      if (gone.get(folder)) return true
    return false
  }

  /** Syncs everything that was added before the call; skips what has been removed since. */
  async sync(): Promise<void> {
    const { files, links, folders, stored, gone } = this.#left
    this.#left = nothing()
    await syncChanges([...files], [...folders.keys()])
    recordNamed(folders)
    if (this.#followers.length === 0) return
    const paths = [...files, ...links].map(path => relative(this.#root, path).split(sep).join('/'))
    for (const follower of this.#followers)
      await follower.update({ files: paths, stored, gone, mutex: this.#mutex })
  }
}

function nothing() {
  return {
    files: new Set<string>(),
    links: [] as string[],
    folders: new Map() as Folders,
    stored: new Map<string, string>(),
    gone: new Map<string, boolean>(),
  }
}
