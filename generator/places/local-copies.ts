import { createWriteStream } from 'node:fs'
import { rename, rm, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { cksumOfKey } from '../../core/paths/crates.ts'
import { makeFolder } from './disk/durable.ts'
import { fileChecksum, fileFacts, readFolder } from './disk/files.ts'
import { temporaryPath } from './disk/steps.ts'
import type { LocalFile, Place } from './place.ts'
import { reading } from './s3/failure.ts'

/** How long a copy stays at least, in milliseconds, and how much stays longer, in bytes. */
const STAY_MS = 10 * 60_000
const CACHE_BYTES = 1024 ** 3

/**
 * Copies of `.crate` files of a bucket that are read here, such as for pages, in a folder of this
 * machine. It may be removed at any time without a process.
 */
export class LocalCopies {
  readonly #place: Place
  readonly #folder: string
  /** Copies by name, the least recently used first. */
  readonly #copies = new Map<string, { readonly size: number; readonly used: number }>()
  #copied = 0

  constructor(place: Place, folder: string) {
    this.#place = place
    this.#folder = folder
  }

  /** Returns a copy of a key's bytes, for ten minutes; null without bytes of that checksum. */
  async get(key: string): Promise<LocalFile | null> {
    const path = join(this.#folder, basename(key))
    const facts = await fileFacts(path)
    if (facts) {
      // So that no other process of this folder takes it for one that nobody uses.
      const now = new Date()
      await utimes(path, now, now)
    }
    const size = facts?.size ?? (await this.#download(key, path))
    if (size === null) return null
    await this.#used(basename(key), size)
    return { path, size }
  }

  /** Removes copies that nobody used for an hour. */
  async sweep(): Promise<void> {
    for (const { name } of await readFolder(this.#folder)) {
      const path = join(this.#folder, name)
      const facts = await fileFacts(path)
      if (facts && facts.modified < Date.now() - 3_600_000) await rm(path, { force: true })
    }
  }

  async #download(key: string, path: string): Promise<number | null> {
    const found = await this.#place.open(key)
    if (!found) return null
    await makeFolder(dirname(path))
    const temporary = temporaryPath(path)
    try {
      const file = createWriteStream(temporary, { flags: 'wx', mode: 0o444 })
      await reading(() => pipeline(found.bytes, file))
      if ((await fileChecksum(temporary)) !== cksumOfKey(key)) return null
      await rename(temporary, path)
      return found.size
    } finally {
      await rm(temporary, { force: true })
    }
  }

  /** Notes that a copy is used, and removes those that are in excess and no longer used. */
  async #used(name: string, size: number): Promise<void> {
    this.#copied += size - (this.#copies.get(name)?.size ?? 0)
    this.#copies.delete(name)
    this.#copies.set(name, { size, used: Date.now() })
    for (const [other, copy] of this.#copies) {
      if (this.#copied <= CACHE_BYTES || copy.used > Date.now() - STAY_MS) return
      this.#copies.delete(other)
      this.#copied -= copy.size
      await rm(join(this.#folder, other), { force: true })
    }
  }
}
