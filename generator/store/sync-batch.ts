import { dirname } from 'node:path'
import { putTogether, syncFile, syncFolder, unlessMissing, writeWhole } from './durable-file.ts'

/** Files and folders that are changed one by one and put on disk together. */
export class SyncBatch {
  readonly #files = new Set<string>()
  readonly #folders = new Set<string>()

  /** Like `writeWhole`. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    const folder = dirname(path)
    const first = await writeWhole(path, bytes)
    this.#files.add(path)
    this.#folders.add(folder)
    if (first === undefined) return
    for (let made = folder; made.length >= first.length; made = dirname(made))
      this.#folders.add(dirname(made))
  }

  /** Something was removed from a folder. */
  lessened(folder: string): void {
    this.#folders.add(folder)
  }

  /** On return every change is on disk; what has been removed since is no matter. */
  async sync(): Promise<void> {
    await putTogether([...this.#files], file => unlessMissing(syncFile(file)))
    await putTogether([...this.#folders], folder => unlessMissing(syncFolder(folder)))
  }
}
