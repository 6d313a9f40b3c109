import { dirname } from 'node:path'
import { inParallel, syncFile, syncFolder, unlessMissing } from './durable-file.ts'

/**
 * Files that were changed and are still to be put on disk, all at once, which takes a fraction of
 * the time. What was found as it should be belongs to it too: a process that was killed may have
 * written it without a sync. Whoever remembers a change as done waits for `sync` first.
 */
export class SyncBatch {
  readonly #root: string
  #files = new Set<string>()
  #folders = new Set<string>()

  /** `root`: the folder that all files are in. */
  constructor(root: string) {
    this.#root = root
  }

  /** The bytes of a file and its name are to be on disk. */
  file(path: string): void {
    this.#files.add(path)
    this.folder(dirname(path))
  }

  /** The names in a folder are to be on disk; those of the folders above it, which may be new. */
  folder(path: string): void {
    const top = dirname(this.#root)
    for (let folder = path; folder.length >= top.length; folder = dirname(folder)) {
      if (this.#folders.has(folder)) break
      this.#folders.add(folder)
      if (folder === top) break
    }
  }

  /**
   * On return all that was noted before the call is on disk. What has been removed since does not
   * matter.
   */
  async sync(): Promise<void> {
    const [files, folders] = [[...this.#files], [...this.#folders]]
    this.#files = new Set()
    this.#folders = new Set()
    await inParallel(files, file => unlessMissing(syncFile(file)))
    await inParallel(folders, folder => unlessMissing(syncFolder(folder)))
  }
}
