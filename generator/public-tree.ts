import { readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileFacts, isMissing, isTemporary, linkDurably, writeDurably } from './durable-file.ts'
import type { Output, Place } from './paths.ts'

/**
 * The folder that readers are served from. Each file appears whole or not at all, and one whose bytes are already
 * right is not touched, so that file times and copies of the tree change only with the content.
 */
export class PublicTree {
  readonly root: string

  constructor(root: string) {
    this.root = root
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
    await writeDurably(path, output.bytes)
    return true
  }

  /** Shows the file `source`, whose bytes never change, at `place`: a hard link where the file system can, else a copy. */
  async show(place: Place, source: string): Promise<boolean> {
    const path = this.path(place.path)
    const [wanted, present] = await Promise.all([fileFacts(source), fileFacts(path)])
    if (wanted && present && wanted.inode === present.inode && wanted.device === present.device) return false
    if (present && wanted?.size === present.size && (await readFile(path)).equals(await readFile(source))) return false
    if (!(await linkDurably(source, path))) await writeDurably(path, await readFile(source))
    return true
  }

  /** Makes the file at `place` a copy of `source`, which may change later; true when it had to be written. */
  async copy(place: Place, source: string): Promise<boolean> {
    return this.write({ ...place, bytes: await readFile(source) })
  }

  /** The bytes at `path`, or null when there is no such file. */
  async read(path: string): Promise<Buffer | null> {
    try {
      return await readFile(this.path(path))
    } catch (error) {
      if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'EISDIR') return null
      throw error
    }
  }

  /** Removes the file at `path` and the folders that it leaves empty. */
  async remove(path: string): Promise<void> {
    await rm(this.path(path), { force: true })
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if (!(await removeIfEmpty(this.path(folder)))) return
    }
  }

  /** Every path in the tree below `folder`, in no particular order. */
  async *list(folder = ''): AsyncIterable<string> {
    let entries: Awaited<ReturnType<typeof readFolder>>
    try {
      entries = await readFolder(this.path(folder))
    } catch (error) {
      if (isMissing(error)) return
      throw error
    }
    for (const entry of entries) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (entry.isDirectory()) yield* this.list(path)
      else if (!isTemporary(entry.name)) yield relative(this.root, this.path(path)).split(sep).join('/')
    }
  }

  /** Names of the folders directly below `path`. */
  async folders(path: string): Promise<string[]> {
    try {
      const entries = await readFolder(this.path(path))
      return entries.filter(entry => entry.isDirectory()).map(entry => entry.name)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  /** Removes a folder with all that is in it. */
  async removeFolder(path: string): Promise<void> {
    await rm(this.path(path), { recursive: true, force: true })
  }
}

const readFolder = (path: string) => readdir(path, { withFileTypes: true })

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
