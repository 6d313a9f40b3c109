import { readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  fileChecksum,
  fileFacts,
  isFolder,
  isMissing,
  isSameFile,
  isTemporary,
  linkDurably,
  probeFolder,
  readFolder,
  sweepFolder,
  WrittenFiles,
  writeDurably,
  writeWhole,
} from './durable-file.ts'
import type { Output, Place } from './paths.ts'

/** Replaces a file, so that readers see the old bytes or the new ones. */
type Put = (path: string, bytes: Uint8Array) => Promise<void>

/**
 * The folder that readers are served from. Each file appears whole or not at all, and one whose bytes are already
 * right is not touched, so that file times and copies of the tree change only with the content.
 */
export class PublicTree {
  readonly root: string
  readonly #put: Put

  /** `durable`: what is written is on disk on return, for a tree whose changes are remembered as done. */
  constructor(root: string, how: { readonly durable: boolean } | { readonly put: Put }) {
    this.root = root
    this.#put = 'put' in how ? how.put : how.durable ? writeDurably : writeWhole
  }

  /**
   * Does `work` on this tree and puts everything that it wrote on disk at once, which takes a fraction of the time. Until
   * then a power cut may leave files with wrong bytes, so what is remembered as done may be so only afterwards.
   */
  async together<T>(work: (tree: PublicTree) => Promise<T>): Promise<T> {
    const written = new WrittenFiles()
    const result = await work(new PublicTree(this.root, { put: (path, bytes) => written.write(path, bytes) }))
    await written.sync()
    return result
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
    if (present?.size === output.bytes.byteLength && (await readFile(path)).equals(output.bytes)) return false
    await this.#put(path, output.bytes)
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
    if (!(await linkDurably(source, path))) await this.#put(path, await readFile(source))
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
    await rm(this.path(path), { force: true })
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if (!(await removeIfEmpty(this.path(folder)))) return
    }
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
    return (await readFolder(this.path(path))).filter(entry => entry.isDirectory()).map(entry => entry.name)
  }

  /** Paths of the files directly in `folder`; of the tree itself, when that is empty. */
  async files(folder: string): Promise<string[]> {
    const entries = await readFolder(this.path(folder))
    const names = entries.filter(entry => entry.isFile() && !isTemporary(entry.name)).map(entry => entry.name)
    return names.map(name => (folder ? `${folder}/${name}` : name))
  }

  /** Removes a folder with all that is in it. */
  async removeFolder(path: string): Promise<void> {
    await rm(this.path(path), { recursive: true, force: true })
  }
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
