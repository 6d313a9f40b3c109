import { lstatSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { publicFile } from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import { disk } from './disk/disk.ts'
import {
  addFolders,
  type Exclusive,
  type Folders,
  recordNamed,
  syncDescriptors,
  writeDurably,
} from './disk/durable.ts'
import { writing } from './disk/fault.ts'
import {
  fileChecksum,
  fileStats,
  openFile,
  readBytes,
  readFolder,
  removeIfEmpty,
} from './disk/files.ts'
import { isTemporary } from './disk/steps.ts'
import type {
  ByteRange,
  Content,
  FileInfo,
  LocalFile,
  OpenFile,
  PathRange,
  Place,
  PutOptions,
} from './place.ts'
import type { SyncBatch } from './sync-batch.ts'

/** How a folder is written. */
export interface FolderOptions {
  /**
   * `each`: a change is on disk when it returns, and folders stay, because others may be writing
   * into them; with a batch, when that is synced; `never`, when the system likes, for what is
   * easily written again. Without `each`, folders that become empty are removed.
   */
  readonly sync: 'each' | 'never' | SyncBatch
  /** Held for a write with a condition; all who write with conditions have the same one. */
  readonly mutex?: { run<T>(work: () => Promise<T>): Promise<T> }
  /** A folder for files that are still being written; by default they are where they will be. */
  readonly incoming?: string
}

const ALL: PathRange = { after: '', before: '\uffff' }

/** The files below a folder. A file is replaced by another one, never changed. */
export class FolderPlace implements Place {
  readonly name: string
  readonly #options: FolderOptions

  constructor(root: string, options: FolderOptions) {
    this.name = root
    this.#options = options
  }

  local(path: string): string {
    return join(this.name, path)
  }

  head(path: string): Promise<{ readonly size: number } | null> {
    return fileStats(this.local(path))
  }

  // What is no file is not there, as for `head`: a folder, a pipe or a device.
  async checksum(path: string): Promise<string | null> {
    return (await this.head(path)) && fileChecksum(this.local(path))
  }

  async open(path: string, range?: ByteRange): Promise<OpenFile | null> {
    return (await this.head(path)) && openFile(this.local(path), range)
  }

  async read(path: string, max?: number): Promise<Content | null> {
    const bytes = (await this.head(path)) && (await readBytes(this.local(path), max))
    if (!bytes) return null
    return {
      bytes,
      // Few ask.
      get etag() {
        return etagOf(sha256(bytes))
      },
    }
  }

  async *list(start = '', range = ALL): AsyncIterable<FileInfo> {
    const folder = start.slice(0, Math.max(0, start.lastIndexOf('/')))
    for await (const path of this.paths(folder, range)) {
      if (!path.startsWith(start)) continue
      // Not by the thread pool: the way there takes longer than this.
      const stats = lstatSync(this.local(path), { throwIfNoEntry: false })
      // A rename and a link change only the second one.
      const changed = stats && Math.max(stats.mtimeMs, stats.ctimeMs)
      if (stats) yield { path, size: stats.size, etag: null, changed: changed ?? 0 }
    }
  }

  /** Lists the paths below a folder, or only directly in it; skips half-written files. */
  async *paths(folder = '', range = ALL, isFlat = false): AsyncIterable<string> {
    for (const entry of await readFolder(this.local(folder))) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (entry.isDirectory()) {
        // All paths in it are between these: `0` comes after `/`.
        const isIn = `${path}0` > range.after && `${path}/` < range.before
        if (isIn && !isFlat) yield* this.paths(path, range)
      } else if (path > range.after && path < range.before && !isTemporary(entry.name)) yield path
    }
  }

  async put(
    path: string,
    content: Uint8Array | LocalFile,
    { cksum, onlyIf }: PutOptions = {},
  ): Promise<string | null> {
    let isSo = true
    const check = async () =>
      onlyIf === 'absent'
        ? (await this.head(path)) === null
        : etagOf(await this.checksum(path)) === onlyIf?.etag
    const { mutex = { run: work => work() } } = this.#options
    const exclusive: Exclusive = show =>
      mutex.run(async () => {
        isSo = await check()
        if (isSo) await show()
      })
    await this.#write(path, content, onlyIf === undefined ? show => show() : exclusive)
    if (!isSo) return null
    if (cksum !== undefined) return etagOf(cksum)
    return etagOf(
      content instanceof Uint8Array ? sha256(content) : await fileChecksum(content.path),
    )
  }

  async remove(path: string): Promise<void> {
    await rm(this.local(path), { recursive: true, force: true })
    if (this.#options.sync === 'each') return
    const folder = await this.#prune(dirname(path))
    if (this.#options.sync !== 'never') this.#options.sync.folder(this.local(folder))
  }

  async #write(path: string, content: Uint8Array | LocalFile, exclusive: Exclusive): Promise<void> {
    const { sync } = this.#options
    const full = this.local(path)
    if (sync === 'each' && content instanceof Uint8Array && publicFile(path).cache !== 'immutable')
      // Nobody waits for the disk in its turn.
      return writeDurably(full, content, 0o644, exclusive)
    await exclusive(async () => {
      if (sync === 'each') return this.#keepDurably(full, content)
      if (content instanceof Uint8Array) await disk.run('replace', full, content)
      else await disk.run('show', content.path, full)
      if (sync !== 'never') sync.file(full)
    })
  }

  async #keepDurably(full: string, content: Uint8Array | LocalFile): Promise<void> {
    const folders: Folders = new Map()
    addFolders(folders, dirname(full), dirname(this.name))
    const names = [...folders.keys()]
    const { incoming = dirname(full) } = this.#options
    // Bytes and names are synced together: nothing refers to them until both are on disk.
    const opened = await (content instanceof Uint8Array
      ? disk.run('store', incoming, full, content, names)
      : disk.run('keep', content.path, full, names))
    await writing(() => syncDescriptors(opened))
    recordNamed(folders)
  }

  /** Removes a folder and its parents while they are empty; returns the first that is not. */
  async #prune(path: string): Promise<string> {
    let folder = path
    while (folder !== '.' && (await removeIfEmpty(this.local(folder)))) folder = dirname(folder)
    return folder
  }
}

function etagOf(cksum: string | null): string {
  return `"${cksum}"`
}
