import { createHash } from 'node:crypto'
import { closeSync, createReadStream, writeFile } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../core/error/error.ts'
import { disk } from './disk/disk.ts'
import { temporaryPath } from './disk/steps.ts'
import {
  fileFacts,
  makeFolder,
  moveDurably,
  probeFolder,
  readFolder,
  sweepFolder,
  syncDescriptors,
  syncFolder,
  unlessMissing,
} from './durable-file.ts'
import { writing } from './storage-fault.ts'

/** As many bytes are collected before the first write; most crates are smaller. */
const FIRST_BYTES = 64 * 1024

/** Appends bytes to an open file; does not stop half-way when the disk is nearly full. */
const append: (file: number, bytes: Uint8Array) => Promise<void> = promisify(writeFile)

/** The folder for files that were set aside. */
const ASIDE = 'aside'

/** The bytes of a `.crate`, wherever they are stored. */
export interface CrateBytes {
  readonly size: number
  /** SHA-256, lowercase hex. */
  readonly cksum: string
  /** The file that contains them. */
  readonly path: string
}

/** Received bytes that the caller has yet to keep or discard. */
export interface Staged extends CrateBytes {
  /** Stores them as the content of `key` and syncs them to disk. */
  keep(key: string): Promise<void>
  /** Deletes them; does nothing after `keep`. */
  discard(): Promise<void>
}

/**
 * Stores `.crate` bytes by key on the file system. Keys contain the checksum of their content, so a
 * file never changes, a repeated publish rewrites the same file, and an orphan file never blocks a
 * publish.
 */
export class CrateStore {
  readonly root: string
  readonly #incoming: string
  /** Folders whose entries are synced to disk; they are never removed. */
  readonly #folders = new LRUCache<string, true>({ max: 10_000 })

  constructor(root: string) {
    this.root = root
    this.#incoming = join(root, 'incoming')
  }

  /**
   * Writes and hashes the bytes of `source`; refuses them as soon as there are more than
   * `maxBytes`. `keep` syncs them to disk.
   */
  async stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Staged> {
    const path = temporaryPath(join(this.#incoming, 'crate'))
    const hash = createHash('sha256')
    const first: Uint8Array[] = []
    let size = 0
    let file: number | null = null
    const begin = () => disk.run('create', path, Buffer.concat(first), 0o444)
    try {
      for await (const chunk of source) {
        size += chunk.byteLength
        if (size > maxBytes) refuse('crate_too_big', { max: maxBytes })
        hash.update(chunk)
        if (file !== null) await writing(() => append(file as number, chunk))
        else {
          first.push(chunk)
          if (size > FIRST_BYTES) file = await begin()
        }
      }
      file ??= await begin()
    } catch (error) {
      if (file !== null) closeSync(file)
      await rm(path, { force: true })
      throw error
    }
    return this.#staged({ path, size, cksum: hash.digest('hex') }, file)
  }

  /** Throws when the store cannot be written to. */
  async probe(): Promise<void> {
    await makeFolder(this.#incoming)
    await probeFolder(this.#incoming)
  }

  /** Returns the path of a key's file. */
  path(key: string): string {
    return join(this.root, ...key.split('/'))
  }

  /** Returns the size of a key's file in bytes; null when there is none. */
  async size(key: string): Promise<number | null> {
    return (await fileFacts(this.path(key)))?.size ?? null
  }

  /** Reads a key's file; when there is none, the stream fails. */
  open(key: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.path(key))
  }

  /** Removes a key's file; does nothing when there is none. */
  async remove(key: string): Promise<void> {
    await rm(this.path(key), { force: true })
  }

  /**
   * Moves a key's file to the `aside` folder, from which `add` can restore it. Returns its path
   * relative to the root.
   */
  async setAside(key: string): Promise<string> {
    const [name = '', cksum = ''] = key.split('/').slice(-2)
    const path = join(ASIDE, `${name}-${cksum}`)
    await moveDurably(this.path(key), join(this.root, path))
    await unlessMissing(syncFolder(dirname(this.path(key))))
    return path.split(sep).join('/')
  }

  /** Lists every key, in no particular order; skips other files, such as an operator's notes. */
  async *list(folder = this.root): AsyncIterable<string> {
    for (const entry of await readFolder(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && path !== this.#incoming) yield* this.list(path)
      else if (/^[0-9a-f]{64}\.crate$/.test(entry.name))
        yield relative(this.root, path).split(sep).join('/')
    }
  }

  /** Removes partial uploads of killed processes: files that have not changed for an hour. */
  async sweep(): Promise<void> {
    await sweepFolder(this.#incoming, Date.now() - 3_600_000)
  }

  #staged(bytes: CrateBytes, file: number): Staged {
    const { path } = bytes
    let isWaiting = true
    return {
      ...bytes,
      keep: async key => {
        if (!isWaiting) return
        const kept = this.path(key)
        const folders = this.#unsynced(dirname(kept))
        const opened = await disk.run('move', path, kept, folders)
        isWaiting = false
        // Bytes and names are synced together: nothing refers to them until both are on disk.
        await writing(() => syncDescriptors([file, ...opened]))
        for (const folder of folders) this.#folders.set(folder, true)
      },
      discard: async () => {
        if (!isWaiting) return
        isWaiting = false
        closeSync(file)
        await rm(path, { force: true })
      },
    }
  }

  /** Returns a folder, and each parent folder that is not yet known to be synced. */
  #unsynced(path: string): string[] {
    if (process.platform === 'win32') return []
    const folders = [path]
    for (let one = path; one !== dirname(this.root) && !this.#folders.has(one); one = dirname(one))
      folders.push(dirname(one))
    return folders
  }
}
