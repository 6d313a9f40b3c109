import { appendFile, rm } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { inParallel, readText, syncFile, syncFolder, unlessMissing } from './durable-file.ts'
import { writing } from './storage-fault.ts'

/** Separates paths in the list: no path contains it. */
const BETWEEN = '\0'

/** Longest name of a file; a longer one in a list was spoilt by a power cut. */
const NAME_MAX = 255

/**
 * Lists what the holder of a mutex is changing, until it is on disk. A process that is killed
 * between a rename and its `fsync` leaves files that look finished: the next holder would find them
 * equal and clear marks for what a power cut can still undo. It syncs the listed files instead. The
 * list needs no `fsync` itself: it has to outlive the process, not a power cut.
 */
export class FsyncJournal {
  readonly #root: string
  readonly #list: string
  #running = 0
  #failed = false

  /**
   * `list`: the file of the journal, one for each mutex; `root`: the folder that paths are below.
   */
  constructor(root: string, list: string) {
    this.#root = root
    this.#list = list
  }

  /**
   * Notes a change of `path` and makes it; when `work` ends well, it has put the change on disk.
   */
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

  /** Forgets the list: everything noted is on disk. */
  async clear(): Promise<void> {
    await rm(this.#list, { force: true })
  }

  /** Puts on disk what a killed holder of the mutex may not have; each turn begins with it. */
  async settle(): Promise<void> {
    const text = await readText(this.#list)
    this.#failed = false
    if (text === null) return
    const paths = text.split(BETWEEN).filter(isSound)
    const folders = new Set(paths.flatMap(ancestors))
    await inParallel([...new Set(paths)], path => unlessMissing(syncFile(join(this.#root, path))))
    await inParallel([...folders], folder => unlessMissing(syncFolder(join(this.#root, folder))))
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
