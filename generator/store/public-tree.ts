import { readFile, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Output } from '../../core/output.ts'
import type { Place } from '../../core/paths/place.ts'
import {
  fileChecksum,
  fileFacts,
  isFolder,
  isMissing,
  isSameFile,
  isTemporary,
  linkDurably,
  linkFacts,
  probeFolder,
  readFolder,
  statOf,
  sweepFolder,
} from './durable-file.ts'
import type { FsyncJournal } from './fsync-journal.ts'
import { BatchWriter, durableWriter, looseWriter, type TreeWriter } from './tree-writer.ts'

/**
 * The folder that readers are served from. A file is replaced in one step, and only when its bytes
 * differ, so that file times and copies of the tree change only with the content.
 */
export class PublicTree {
  readonly root: string
  readonly #writer: TreeWriter
  readonly #clears: boolean

  /**
   * `durable`: what is written is on disk on return, for a tree whose changes are remembered as
   * done; `journal` learns what is being changed. `clears`: see `clearing`.
   */
  constructor(
    root: string,
    how: { readonly durable: boolean; readonly journal?: FsyncJournal } | TreeWriter,
    clears = false,
  ) {
    this.root = root
    this.#clears = clears
    if ('put' in how) this.#writer = how
    else this.#writer = how.durable ? durableWriter(how.journal) : looseWriter
  }

  /**
   * Does `work` on this tree and puts everything that it changed on disk at once. Remember it as
   * done only afterwards. `journal` is that of the mutex that the caller holds.
   */
  async batch<T>(journal: FsyncJournal, work: (tree: PublicTree) => Promise<T>): Promise<T> {
    const writer = new BatchWriter(journal)
    const result = await work(new PublicTree(this.root, writer, this.#clears))
    await writer.sync()
    return result
  }

  /**
   * The same tree for a repair: it removes what is in the way of a write, such as a file for a
   * folder.
   */
  clearing(): PublicTree {
    return new PublicTree(this.root, this.#writer, true)
  }

  /** Fails when nothing can be written here. */
  probe(): Promise<void> {
    return probeFolder(this.root)
  }

  /** Where a path of the tree lies on disk. */
  path(path: string): string {
    return join(this.root, ...path.split('/'))
  }

  /** Makes the file equal to `output`; true when it had to be written. */
  async write(output: Output): Promise<boolean> {
    const path = this.path(output.path)
    const present = await fileFacts(path)
    if (present?.size === output.bytes.byteLength && (await readFile(path)).equals(output.bytes))
      return false
    await this.#change(output.path, () => this.#writer.put(path, output.bytes))
    return true
  }

  /**
   * Shows the file `source`, whose bytes never change, at `place`: a hard link where the file
   * system can, else a copy. True when something had to be done.
   */
  async show(place: Place, source: string): Promise<boolean> {
    const path = this.path(place.path)
    if (await isSameFile(source, path)) return false
    const present = await fileFacts(path)
    if (present && (await fileChecksum(path)) === (await fileChecksum(source))) return false
    await this.#change(place.path, async () => {
      if (!(await linkDurably(source, path))) await this.#writer.put(path, await readFile(source))
    })
    return true
  }

  /** The bytes at `path`, or null when there is no such file. */
  async read(path: string): Promise<Buffer | null> {
    try {
      return await readFile(this.path(path))
    } catch (error) {
      if (isMissing(error) || isFolder(error)) return null
      throw error
    }
  }

  /** Whether there is a file at `path`. */
  async has(path: string): Promise<boolean> {
    return (await fileFacts(this.path(path))) !== null
  }

  /** Removes the file at `path` and the folders that it leaves empty. */
  async remove(path: string): Promise<void> {
    if (await this.#isThere(path)) await this.#track(path, () => this.#cut(path))
    else await this.#prune(dirname(path))
  }

  /** Every path in the tree below `folder`, in no particular order; half-written files are none. */
  async *list(folder = ''): AsyncIterable<string> {
    for (const entry of await readFolder(this.path(folder))) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (entry.isDirectory()) yield* this.list(path)
      else if (!isTemporary(entry.name)) yield path
    }
  }

  /** Removes half-written files directly in `folder`; the caller is the only writer. */
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

  /** Names of the folders directly below `path`. */
  async folders(path: string): Promise<string[]> {
    return (await readFolder(this.path(path)))
      .filter(entry => entry.isDirectory())
      .map(entry => entry.name)
  }

  /** Paths of the files directly in `folder`; of the tree itself, when that is empty. */
  async files(folder: string): Promise<string[]> {
    const entries = await readFolder(this.path(folder))
    const names = entries
      .filter(entry => entry.isFile() && !isTemporary(entry.name))
      .map(entry => entry.name)
    return names.map(name => (folder ? `${folder}/${name}` : name))
  }

  /** Removes a folder with all that is in it. */
  async removeFolder(path: string): Promise<void> {
    if (await this.#isThere(path)) await this.#track(path, () => this.#cut(path))
  }

  async #cut(path: string): Promise<void> {
    await rm(this.path(path), { recursive: true, force: true })
    await this.#writer.removed(this.path(await this.#prune(dirname(path))))
  }

  /** Removes a folder and those above it as far as they are empty; gives the first that is not. */
  async #prune(path: string): Promise<string> {
    let folder = path
    while (folder !== '.' && (await removeIfEmpty(this.path(folder)))) folder = dirname(folder)
    return folder
  }

  /** Does work that changes `path`, under its name from the folder of the registry on. */
  #track<T>(path: string, work: () => Promise<T>): Promise<T> {
    return this.#writer.change(`${basename(this.root)}/${path}`, work)
  }

  async #isThere(path: string): Promise<boolean> {
    return (await linkFacts(this.path(path))) !== null
  }

  /** Writes at `path`; again when its folder was removed as empty, or something was in the way. */
  async #change(path: string, work: () => Promise<void>): Promise<void> {
    await this.#track(path, async () => {
      try {
        await work()
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        const isInTheWay = this.#clears && IN_THE_WAY.has(code)
        if (code !== 'ENOENT' && !isInTheWay) throw error
        if (this.#clears) await this.#makeRoom(path)
        await work()
      }
    })
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

/** What a write fails with when something else is in its place. */
const IN_THE_WAY = new Set(['EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY'])

async function removeIfEmpty(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    if (isMissing(error)) return true
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
