import { appendFile, rm } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { putTogether, readText, syncFile, syncFolder, unlessMissing } from './durable-file.ts'
import { writing } from './storage-fault.ts'

/** What sets paths in the list apart: no path has it. */
const BETWEEN = '\0'

/** Longest name of a file; anything longer in a list is what a power cut has made of it. */
const NAME_MAX = 255

/**
 * What the holder of a turn is changing, listed in a file until it is on disk. A process that is killed between a rename
 * and its `fsync` leaves files that look finished: its successor finds them equal, writes nothing, and would take off
 * marks for what a power cut can still undo. The list says which files these are, so that it costs nothing to be sure of
 * all others. The list itself is never put on disk and need not be: it only has to outlive the process. After a power cut
 * what is read back was on disk, whatever the list says.
 */
export class FsyncJournal {
  readonly #root: string
  readonly #list: string
  #running = 0
  #failed = false

  /** `list`: the file, for whoever holds one mutex; `root`: what paths begin from. */
  constructor(root: string, list: string) {
    this.#root = root
    this.#list = list
  }

  /** Notes a change of `path` and makes it; when `work` ends well, it has put the change on disk. */
  async during<T>(path: string, work: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      await this.note(path)
      return await work()
    } catch (error) {
      this.#failed = true
      throw error
    } finally {
      this.#running--
      if (this.#running === 0 && !this.#failed) await this.clear()
    }
  }

  /** Notes that `path` will be changed. */
  async note(path: string): Promise<void> {
    await writing(() => appendFile(this.#list, `${path}${BETWEEN}`))
  }

  /** Everything noted is on disk. */
  async clear(): Promise<void> {
    await rm(this.#list, { force: true })
  }

  /** Puts on disk what an earlier holder of the turn may not have; whoever gets the turn does this first. */
  async settle(): Promise<void> {
    const text = await readText(this.#list)
    this.#failed = false
    if (text === null) return
    const paths = text.split(BETWEEN).filter(isSound)
    const folders = new Set(paths.flatMap(ancestors))
    await putTogether([...new Set(paths)], path => unlessMissing(syncFile(join(this.#root, path))))
    await putTogether([...folders], folder => unlessMissing(syncFolder(join(this.#root, folder))))
    await this.clear()
  }
}

function isSound(path: string): boolean {
  return (
    path !== '' &&
    path.split('/').every(part => part !== '..' && Buffer.byteLength(part) <= NAME_MAX)
  )
}

/** The folders above a path, the root last. */
function ancestors(path: string): string[] {
  const folders: string[] = []
  for (let folder = posix.dirname(path); folder !== '.' && folder !== '/'; folder = dirname(folder))
    folders.push(folder)
  return [...folders, '.']
}
