import { createHash } from 'node:crypto'
import { closeSync, writeFile } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../core/error/error.ts'
import type {
  ByteRange,
  CrateBytes,
  CrateStore,
  LocalFile,
  OpenBytes,
  Staged,
} from './crate-store.ts'
import { disk } from './disk/disk.ts'
import { temporaryPath } from './disk/steps.ts'
import {
  fileChecksum,
  fileFacts,
  makeFolder,
  moveDurably,
  openFile,
  probeFolder,
  readFolder,
  sweepFolder,
  syncDescriptors,
  syncFolder,
  unlessMissing,
} from './durable-file.ts'
import { writing } from './storage-fault.ts'

/** A smaller `.crate`, as most are, is in memory until it is kept. */
const FIRST_BYTES = 64 * 1024

/** Appends bytes to an open file; does not stop half-way when the disk is nearly full. */
const append: (file: number, bytes: Uint8Array) => Promise<void> = promisify(writeFile)

/** The folder for files that were set aside. */
const ASIDE = 'aside'

/** The crate store in a folder: bytes and names are synced to disk. */
export class CrateFolder implements CrateStore {
  readonly place: string
  readonly root: string
  readonly #incoming: string
  /** Folders whose entries are synced to disk; they are never removed. */
  readonly #folders = new LRUCache<string, true>({ max: 10_000 })

  constructor(root: string) {
    this.root = root
    this.place = root
    this.#incoming = join(root, 'incoming')
  }

  /**
   * Receives and hashes the bytes of `source`; refuses them as soon as there are more than
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
    } catch (error) {
      if (file !== null) closeSync(file)
      await rm(path, { force: true })
      throw error
    }
    const facts = { size, cksum: hash.digest('hex') }
    // A view, such as a small Buffer, would take all of its memory along to other threads.
    if (file === null)
      return this.#inMemory(path, { ...facts, content: new Uint8Array(Buffer.concat(first)) })
    return this.#inFile(file, { ...facts, content: path })
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

  async localFile(key: string): Promise<LocalFile | null> {
    const path = this.path(key)
    const facts = await fileFacts(path)
    return facts && { path, size: facts.size }
  }

  checksum(key: string): Promise<string | null> {
    return fileChecksum(this.path(key))
  }

  open(key: string, range?: ByteRange): Promise<OpenBytes | null> {
    return openFile(this.path(key), range)
  }

  async presigned(): Promise<null> {
    return null
  }

  /** Removes a key's file; does nothing when there is none. */
  async remove(key: string): Promise<void> {
    await rm(this.path(key), { force: true })
  }

  /**
   * Moves a key's file to the `aside` folder, from which `add` can restore it. Returns its path
   * relative to the folder that contains this one.
   */
  async setAside(key: string): Promise<string> {
    const [name = '', cksum = ''] = key.split('/').slice(-2)
    const path = join(ASIDE, `${name}-${cksum}`)
    await moveDurably(this.path(key), join(this.root, path))
    await unlessMissing(syncFolder(dirname(this.path(key))))
    return join(basename(this.root), path).split(sep).join('/')
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

  #inMemory(temporary: string, bytes: CrateBytes & { readonly content: Uint8Array }): Staged {
    let isWaiting = true
    return {
      ...bytes,
      keep: async key => {
        if (!isWaiting) return
        await this.#keep(key, (path, folders) =>
          disk.run('store', temporary, path, bytes.content, folders),
        )
        isWaiting = false
      },
      discard: async () => {
        isWaiting = false
      },
    }
  }

  #inFile(file: number, bytes: CrateBytes & { readonly content: string }): Staged {
    const { content: path } = bytes
    let isWaiting = true
    return {
      ...bytes,
      keep: async key => {
        if (!isWaiting) return
        await this.#keep(key, async (kept, folders) => {
          const opened = await disk.run('move', path, kept, folders)
          isWaiting = false
          return [file, ...opened]
        })
      },
      discard: async () => {
        if (!isWaiting) return
        isWaiting = false
        closeSync(file)
        await rm(path, { force: true })
      },
    }
  }

  /** Syncs what `place` has put at its place and opened. */
  async #keep(
    key: string,
    place: (path: string, folders: readonly string[]) => Promise<number[]>,
  ): Promise<void> {
    const path = this.path(key)
    const folders = this.#unsynced(dirname(path))
    const opened = await place(path, folders)
    // Bytes and names are synced together: nothing refers to them until both are on disk.
    await writing(() => syncDescriptors(opened))
    for (const folder of folders) this.#folders.set(folder, true)
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
