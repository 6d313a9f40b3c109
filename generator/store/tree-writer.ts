import { dirname } from 'node:path'
import {
  inParallel,
  syncFile,
  syncFolder,
  unlessMissing,
  writeAtomically,
  writeDurably,
} from './durable-file.ts'
import type { FsyncJournal } from './fsync-journal.ts'

/** How a public tree writes. `path` is a file's place on disk, `entry` its name in the journal. */
export interface TreeWriter {
  /** Replaces a file: readers see the old bytes or the new ones. */
  put(path: string, bytes: Uint8Array): Promise<void>
  /** Something was removed from a folder. */
  removed(folder: string): Promise<void>
  /** Does work that changes a file. */
  change<T>(entry: string, work: () => Promise<T>): Promise<T>
}

/** For trees that are easily made again: a power cut may spoil what was just written. */
export const looseWriter: TreeWriter = {
  put: async (path, bytes) => void (await writeAtomically(path, bytes)),
  removed: async () => undefined,
  change: (_, work) => work(),
}

/** Each change is on disk when it is done; `journal` lists it until then. */
export function durableWriter(journal?: FsyncJournal): TreeWriter {
  return {
    put: writeDurably,
    removed: folder => unlessMissing(syncFolder(folder)),
    change: (entry, work) => (journal ? journal.during(entry, work) : work()),
  }
}

/**
 * Puts many changes on disk at once, which takes a fraction of the time; until `sync` none is safe.
 */
export class BatchWriter implements TreeWriter {
  readonly #journal: FsyncJournal
  readonly #files = new Set<string>()
  readonly #folders = new Set<string>()

  constructor(journal: FsyncJournal) {
    this.#journal = journal
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    const first = await writeAtomically(path, bytes)
    this.#files.add(path)
    this.#folders.add(dirname(path))
    if (first === undefined) return
    for (let made = dirname(path); made.length >= first.length; made = dirname(made))
      this.#folders.add(dirname(made))
  }

  async removed(folder: string): Promise<void> {
    this.#folders.add(folder)
  }

  async change<T>(entry: string, work: () => Promise<T>): Promise<T> {
    await this.#journal.note(entry)
    return work()
  }

  /** On return every change is on disk; what has been removed since does not matter. */
  async sync(): Promise<void> {
    await inParallel([...this.#files], file => unlessMissing(syncFile(file)))
    await inParallel([...this.#folders], folder => unlessMissing(syncFolder(folder)))
    await this.#journal.clear()
  }
}
