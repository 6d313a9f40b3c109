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
  syncFolder,
  unlessMissing,
  writeDurably,
  writeWhole,
} from './durable-file.ts'
import type { FsyncJournal } from './fsync-journal.ts'
import { SyncBatch } from './sync-batch.ts'

/** How a tree puts changes on disk. */
interface Hand {
  /** Replaces a file, so that readers see the old bytes or the new ones. */
  put(path: string, bytes: Uint8Array): Promise<void>
  /** Hears of a folder in which something was removed. */
  lessened(folder: string): Promise<void>
  /** Does the work that changes a path of the tree. */
  during<T>(path: string, work: () => Promise<T>): Promise<T>
}

const DURABLE: Hand = {
  put: writeDurably,
  lessened: folder => unlessMissing(syncFolder(folder)),
  during: (_, work) => work(),
}
const LOOSE: Hand = {
  put: async (path, bytes) => {
    await writeWhole(path, bytes)
  },
  lessened: async () => undefined,
  during: (_, work) => work(),
}

/**
 * The folder that readers are served from. Each file appears whole or not at all, and one whose bytes are already
 * right is not touched, so that file times and copies of the tree change only with the content.
 */
export class PublicTree {
  readonly root: string
  readonly #hand: Hand
  readonly #clears: boolean

  /**
   * `durable`: what is written is on disk on return, for a tree whose changes are remembered as done; `journal` learns
   * what is being changed, by the path from its own root on.
   */
  constructor(
    root: string,
    how: { readonly durable: boolean; readonly journal?: FsyncJournal } | { readonly hand: Hand },
    clears = false,
  ) {
    this.root = root
    this.#clears = clears
    this.#hand = 'hand' in how ? how.hand : how.durable ? noting(root, how.journal, DURABLE) : LOOSE
  }

  /**
   * Does `work` on this tree and puts everything that it changed on disk at once, which takes a fraction of the time.
   * Until then a power cut may leave files with wrong bytes, so what is remembered as done may be so only afterwards.
   * `journal` is that of the turn in which the caller is.
   */
  async together<T>(journal: FsyncJournal, work: (tree: PublicTree) => Promise<T>): Promise<T> {
    const written = new SyncBatch()
    const hand: Hand = {
      put: (path, bytes) => written.write(path, bytes),
      lessened: async folder => written.lessened(folder),
      during: async (path, change) => {
        await journal.note(`${basename(this.root)}/${path}`)
        return change()
      },
    }
    const result = await work(new PublicTree(this.root, { hand }, this.#clears))
    await written.sync()
    await journal.clear()
    return result
  }

  /** The same tree for a repair: what lies in the way of a write, a file where a folder has to be say, is removed. */
  clearing(): PublicTree {
    return new PublicTree(this.root, { hand: this.#hand }, true)
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
    await this.#change(output.path, () => this.#hand.put(path, output.bytes))
    return true
  }

  /**
   * Shows the file `source`, whose bytes never change, at `place`: a hard link where the file system can, else a copy.
   * True when something had to be done.
   */
  async show(place: Place, source: string): Promise<boolean> {
    const path = this.path(place.path)
    if (await isSameFile(source, path)) return false
    const present = await fileFacts(path)
    if (present && (await fileChecksum(path)) === (await fileChecksum(source))) return false
    await this.#change(place.path, async () => {
      if (!(await linkDurably(source, path))) await this.#hand.put(path, await readFile(source))
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
    if (await this.#isThere(path)) await this.#hand.during(path, () => this.#cut(path))
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

  /** Removes half-written files directly in `folder`; only while nobody else writes to the tree. */
  async sweep(folder: string): Promise<void> {
    await sweepFolder(this.path(folder))
  }

  /** Removes what killed processes have left half-written anywhere in the tree: what nobody has written to for an hour. */
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
    if (await this.#isThere(path)) await this.#hand.during(path, () => this.#cut(path))
  }

  async #cut(path: string): Promise<void> {
    await rm(this.path(path), { recursive: true, force: true })
    await this.#hand.lessened(this.path(await this.#prune(dirname(path))))
  }

  /** Removes a folder and those above it as far as they are empty; gives the first that is not. */
  async #prune(path: string): Promise<string> {
    let folder = path
    while (folder !== '.' && (await removeIfEmpty(this.path(folder)))) folder = dirname(folder)
    return folder
  }

  async #isThere(path: string): Promise<boolean> {
    return (await linkFacts(this.path(path))) !== null
  }

  /** Writes at `path`; once more when its folder was removed meanwhile, as an empty one, or room had to be made. */
  async #change(path: string, work: () => Promise<void>): Promise<void> {
    await this.#hand.during(path, async () => {
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

function noting(root: string, journal: FsyncJournal | undefined, hand: Hand): Hand {
  if (!journal) return hand
  return { ...hand, during: (path, work) => journal.during(`${basename(root)}/${path}`, work) }
}

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
