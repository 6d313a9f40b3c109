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

/** The shortest life of a copy, in milliseconds; older ones are swept after this many new bytes. */
const STAY_MS = 10 * 60_000
const SWEPT_BYTES = 1024 ** 3

/**
 * Copies of `.crate` files of a bucket that are read here, such as for pages, in a folder of this
 * machine. It may be removed at any time without a process.
 */
export class LocalCopies {
  readonly #place: Place
  readonly #folder: string
  /** The bytes that came since the last sweep. */
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
      // Now no other process of this folder takes it for an unused copy.
      const now = new Date()
      await utimes(path, now, now)
    }
    const size = facts?.size ?? (await this.#download(key, path))
    return size === null ? null : { path, size }
  }

  /** Removes copies that nobody used for ten minutes. */
  async sweep(): Promise<void> {
    this.#copied = 0
    for (const { name } of await readFolder(this.#folder)) {
      const path = join(this.#folder, name)
      const facts = await fileFacts(path)
      if (facts && Math.abs(Date.now() - facts.modified) > STAY_MS) await rm(path, { force: true })
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
      this.#copied += found.size
      if (this.#copied > SWEPT_BYTES) await this.sweep()
      return found.size
    } finally {
      await rm(temporary, { force: true })
    }
  }
}
