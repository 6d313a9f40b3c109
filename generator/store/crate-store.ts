import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import {
  fileFacts,
  makeFolder,
  moveDurably,
  probeFolder,
  readFolder,
  sweepFolder,
  syncFolder,
  temporaryPath,
  unlessMissing,
} from './durable-file.ts'
import type { FsyncJournal } from './fsync-journal.ts'
import { writing } from './storage-fault.ts'

/** The folder of what was set aside. */
const ASIDE = 'aside'

/** The bytes of a `.crate`, wherever they lie. */
export interface CrateBytes {
  readonly size: number
  /** SHA-256, lowercase hex. */
  readonly cksum: string
  /** The file that has them. */
  readonly path: string
}

/** Bytes that have arrived and are kept or discarded by the caller. */
export interface Staged extends CrateBytes {
  /** Makes them the content of `key`, on disk for good. */
  keep(key: string): Promise<void>
  /** Forgets them; does nothing after `keep`. */
  discard(): Promise<void>
}

/**
 * The `.crate` bytes by key, on the file system. Keys name their content by checksum, so that a
 * file never changes, a repeated publish writes the same file again, and an orphan file never
 * blocks a publish.
 */
export class CrateStore {
  readonly root: string
  readonly #incoming: string
  readonly #journal: FsyncJournal | null

  /**
   * `journal` learns what is being changed, by the path from its own root on; the changes are then
   * made in turns.
   */
  constructor(root: string, journal: FsyncJournal | null = null) {
    this.root = root
    this.#incoming = join(root, 'incoming')
    this.#journal = journal
  }

  /**
   * Writes the bytes of `source` to disk, hashing them; refuses more than `maxBytes` as soon as
   * they arrive.
   */
  async stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Staged> {
    await makeFolder(this.#incoming)
    const path = temporaryPath(join(this.#incoming, 'crate'))
    const hash = createHash('sha256')
    let size = 0
    const file = await writing(() => open(path, 'wx', 0o444))
    try {
      try {
        for await (const chunk of source) {
          size += chunk.byteLength
          if (size > maxBytes) refuse('crate_too_big', { max: maxBytes })
          hash.update(chunk)
          // Unlike `write`, this does not stop half-way when the disk is nearly full.
          await writing(() => file.writeFile(chunk))
        }
        await writing(() => file.sync())
      } finally {
        await file.close()
      }
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    return this.#staged(path, size, hash.digest('hex'))
  }

  /** Fails when nothing can be written here. */
  async probe(): Promise<void> {
    await makeFolder(this.#incoming)
    await probeFolder(this.#incoming)
  }

  /** Where a key's bytes lie. */
  path(key: string): string {
    return join(this.root, ...key.split('/'))
  }

  /** Size in bytes of what is stored under a key; null when nothing is. */
  async size(key: string): Promise<number | null> {
    return (await fileFacts(this.path(key)))?.size ?? null
  }

  /** Reads what is stored under a key; fails while reading when nothing is. */
  open(key: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.path(key))
  }

  /** Removes a key. */
  async remove(key: string): Promise<void> {
    await rm(this.path(key), { force: true })
  }

  /**
   * Moves what is stored under a key to the folder of what was set aside, from where `add` can take
   * it. Gives its path below the root.
   */
  async setAside(key: string): Promise<string> {
    const [name = '', cksum = ''] = key.split('/').slice(-2)
    const path = join(ASIDE, `${name}-${cksum}`)
    await moveDurably(this.path(key), join(this.root, path))
    await unlessMissing(syncFolder(dirname(this.path(key))))
    return path.split(sep).join('/')
  }

  /** Every key, in no particular order; other files, such as an operator's notes, are left out. */
  async *list(folder = this.root): AsyncIterable<string> {
    for (const entry of await readFolder(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && path !== this.#incoming) yield* this.list(path)
      else if (/^[0-9a-f]{64}\.crate$/.test(entry.name))
        yield relative(this.root, path).split(sep).join('/')
    }
  }

  /** Removes what killed processes were receiving: files that have not changed for an hour. */
  async sweep(): Promise<void> {
    await sweepFolder(this.#incoming, Date.now() - 3_600_000)
  }

  #staged(path: string, size: number, cksum: string): Staged {
    let waiting = true
    return {
      size,
      cksum,
      path,
      keep: async key => {
        if (!waiting) return
        const move = () => moveDurably(path, this.path(key))
        await (this.#journal?.during(`${basename(this.root)}/${key}`, move) ?? move())
        await syncFolder(this.#incoming)
        waiting = false
      },
      discard: async () => {
        if (waiting) await rm(path, { force: true })
        waiting = false
      },
    }
  }
}
