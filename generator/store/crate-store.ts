import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../core/error/error.ts'
import {
  fileFacts,
  inFolder,
  makeFolder,
  moveDurably,
  probeFolder,
  readFolder,
  sweepFolder,
  syncFolder,
  temporaryPath,
  unlessMissing,
} from './durable-file.ts'
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
  /** Folders whose names are on disk; nothing removes them. */
  readonly #folders = new LRUCache<string, true>({ max: 10_000 })

  constructor(root: string) {
    this.root = root
    this.#incoming = join(root, 'incoming')
  }

  /**
   * Writes the bytes of `source` to a file, hashing them; refuses more than `maxBytes` as soon as
   * they arrive. They are on disk when they are kept.
   */
  async stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Staged> {
    const path = temporaryPath(join(this.#incoming, 'crate'))
    const hash = createHash('sha256')
    let size = 0
    const file = await inFolder(path, () => writing(() => open(path, 'wx', 0o444)))
    try {
      for await (const chunk of source) {
        size += chunk.byteLength
        if (size > maxBytes) refuse('crate_too_big', { max: maxBytes })
        hash.update(chunk)
        // Unlike `write`, this does not stop half-way when the disk is nearly full.
        await writing(() => file.writeFile(chunk))
      }
    } catch (error) {
      await file.close()
      await rm(path, { force: true })
      throw error
    }
    return this.#staged({ path, size, cksum: hash.digest('hex') }, file)
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

  #staged(bytes: CrateBytes, file: FileHandle): Staged {
    const { path } = bytes
    let isWaiting = true
    return {
      ...bytes,
      keep: async key => {
        if (!isWaiting) return
        const kept = this.path(key)
        await inFolder(kept, () => writing(() => rename(path, kept)))
        isWaiting = false
        // Bytes and names in one round: nothing refers to them before all of them are on disk.
        await Promise.all([writing(() => file.sync()), this.#syncFolders(dirname(kept))])
        await file.close()
      },
      discard: async () => {
        if (isWaiting) await rm(path, { force: true })
        isWaiting = false
        await file.close()
      },
    }
  }

  /** Puts the names in a folder on disk, and its own and those above it unless they are. */
  async #syncFolders(path: string): Promise<void> {
    const folders = [path]
    for (let one = path; one !== dirname(this.root) && !this.#folders.has(one); one = dirname(one))
      folders.push(dirname(one))
    await Promise.all(folders.map(syncFolder))
    for (const one of folders) this.#folders.set(one, true)
  }
}
