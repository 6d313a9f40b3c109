import { dirname } from 'node:path'
import { syncAll, syncFileSystems } from './durable-file.ts'

/** With more files, one `sync` of the whole file system takes less time than one for each. */
const MANY = 1000

/**
 * Collects changed files to sync them all at once, which takes a fraction of the time. Unchanged
 * files belong in the batch too: a killed process may have written them without a sync. A caller
 * that records a change as done waits for `sync` first.
 */
export class SyncBatch {
  readonly #root: string
  #files = new Set<string>()
  #folders = new Set<string>()

  /** `root`: the folder that contains all the files. */
  constructor(root: string) {
    this.#root = root
  }

  /** Adds a file: its bytes and its name. */
  file(path: string): void {
    this.#files.add(path)
    this.folder(dirname(path))
  }

  /** Adds the entries of a folder and of its parents, which may be new. */
  folder(path: string): void {
    const top = dirname(this.#root)
    for (let folder = path; folder.length >= top.length; folder = dirname(folder)) {
      if (this.#folders.has(folder)) break
      this.#folders.add(folder)
      if (folder === top) break
    }
  }

  /** Syncs everything that was added before the call; skips what has been removed since. */
  async sync(): Promise<void> {
    const [files, folders] = [[...this.#files], [...this.#folders]]
    this.#files = new Set()
    this.#folders = new Set()
    if (files.length > MANY && (await syncFileSystems(folders))) return
    await syncAll(files, 'file')
    await syncAll(folders, 'folder')
  }
}
