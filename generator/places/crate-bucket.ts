import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { sha256Of } from '../../core/sha256.ts'
import { CrateFolder } from './crate-folder.ts'
import type { ByteRange, CrateStore, LocalFile, OpenBytes, Staged } from './crate-store.ts'
import { temporaryPath } from './disk/steps.ts'
import { fileFacts, makeFolder, readFolder } from './durable-file.ts'
import type { Bucket } from './s3/bucket.ts'
import { reading } from './s3/reading.ts'

/** What every reader of a `.crate` may keep for ever. */
const HEADERS = {
  'content-type': 'application/gzip',
  'cache-control': 'public, max-age=31536000, immutable',
}

/** Where bytes are moved that no release has. */
const ASIDE = 'aside'

/** How long a local copy stays at least, in milliseconds, and how much stays longer, in bytes. */
const STAY_MS = 10 * 60_000
const CACHE_BYTES = 1024 ** 3

/**
 * The crate store in a bucket. A folder of this machine takes bytes while they are received, and
 * copies of those that are read here, such as for pages; it may be removed at any time without a
 * process.
 */
export class CrateBucket implements CrateStore {
  readonly place: string
  readonly #bucket: Bucket
  readonly #cache: string
  readonly #incoming: CrateFolder
  /** Copies by name, the one that was not used for the longest time first. */
  readonly #copies = new Map<string, { readonly size: number; readonly used: number }>()
  #copied = 0

  constructor(bucket: Bucket, cache: string) {
    this.#bucket = bucket
    this.place = bucket.place
    this.#cache = join(cache, 'crates')
    this.#incoming = new CrateFolder(cache)
  }

  /** Receives bytes as `CrateFolder` does; `keep` uploads them. */
  async stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Staged> {
    const staged = await this.#incoming.stage(source, maxBytes)
    let isKept = false
    return {
      size: staged.size,
      cksum: staged.cksum,
      content: staged.content,
      keep: async key => {
        if (isKept) return
        await this.#upload(key, staged)
        isKept = true
        await staged.discard()
      },
      discard: () => staged.discard(),
    }
  }

  /** Throws when the bucket does not answer, or bytes cannot be received. */
  async probe(): Promise<void> {
    await this.#incoming.probe()
    await this.#bucket.head('probe')
  }

  path(): null {
    return null
  }

  async localFile(key: string): Promise<LocalFile | null> {
    const name = nameOf(key)
    const path = join(this.#cache, name)
    const facts = await fileFacts(path)
    if (facts) {
      // So that no other process of this folder takes it for one that nobody uses.
      const now = new Date()
      await utimes(path, now, now)
    }
    const size = facts?.size ?? (await this.#download(key, path))
    if (size === null) return null
    await this.#used(name, size)
    return { path, size }
  }

  async size(key: string): Promise<number | null> {
    return (await this.#bucket.head(key))?.size ?? null
  }

  async checksum(key: string): Promise<string | null> {
    const found = await this.#bucket.get(key)
    if (!found) return null
    return reading(() => sha256Of(found.bytes))
  }

  async open(key: string, range?: ByteRange): Promise<OpenBytes | null> {
    const found = await this.#bucket.get(key, range)
    return found && { size: found.size, bytes: found.bytes }
  }

  remove(key: string): Promise<void> {
    return this.#bucket.remove(key)
  }

  async setAside(key: string): Promise<string> {
    const [name = '', cksum = ''] = key.split('/').slice(-2)
    const aside = `${ASIDE}/${name}-${cksum}`
    await this.#bucket.copy(key, aside)
    await this.#bucket.remove(key)
    return `${this.place}/${aside}`
  }

  async *list(): AsyncIterable<string> {
    for await (const { key } of this.#bucket.list())
      if (!key.startsWith(`${ASIDE}/`) && /\/[0-9a-f]{64}\.crate$/.test(key)) yield key
  }

  /** Removes what killed processes were receiving, and copies that nobody used for an hour. */
  async sweep(): Promise<void> {
    await this.#incoming.sweep()
    for (const { name } of await readFolder(this.#cache)) {
      const path = join(this.#cache, name)
      const facts = await fileFacts(path)
      if (facts && facts.modified < Date.now() - 3_600_000) await rm(path, { force: true })
    }
  }

  /** Returns an address from which anybody may read a key's bytes for so many seconds. */
  presigned(key: string, seconds: number): Promise<string> {
    return this.#bucket.presigned(key, seconds)
  }

  async #upload(key: string, { content, size, cksum }: Staged): Promise<void> {
    const body = typeof content === 'string' ? { file: content, size } : content
    const object = { body, cksum, headers: HEADERS }
    if ((await this.#bucket.put(key, { ...object, onlyIf: 'absent' })) !== null) return
    // Bytes of an earlier attempt, whose answer may have been lost, are as good as ours.
    const there = await this.#bucket.head(key)
    const theirs = there && (there.cksum ?? (await this.checksum(key)))
    if (there?.size !== size || theirs !== cksum) await this.#bucket.put(key, object)
  }

  /** Copies bytes into a file; returns their number, null without bytes of that checksum. */
  async #download(key: string, path: string): Promise<number | null> {
    const found = await this.#bucket.get(key)
    if (!found) return null
    await makeFolder(dirname(path))
    const temporary = temporaryPath(path)
    const hash = createHash('sha256')
    try {
      const hashed = async function* (source: AsyncIterable<Uint8Array>) {
        for await (const part of source) {
          hash.update(part)
          yield part
        }
      }
      const file = createWriteStream(temporary, { flags: 'wx', mode: 0o444 })
      await reading(() => pipeline(found.bytes, hashed, file))
      if (`${hash.digest('hex')}.crate` !== nameOf(key)) return null
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
      await rm(join(this.#cache, other), { force: true })
    }
  }
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}
