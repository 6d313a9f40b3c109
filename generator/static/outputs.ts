import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Output } from '../../core/output.ts'
import type { PublicTree } from '../store/public-tree.ts'
import { type BuildCache, digestOf } from './cache.ts'

/** Files of a tree that are rendered together, because they depend on the same things. */
export interface OutputGroup {
  /** The same in every build. */
  readonly id: string
  /** All that the files depend on, as JSON. */
  readonly inputs: unknown
  render(): Iterable<Output> | AsyncIterable<Output>
}

/** A file as it was written: path, size, time of change in nanoseconds, SHA-256. */
type Stamp = readonly [path: string, size: number, modified: string, sha256: string]

/**
 * Writes groups of files into a static tree. A group whose inputs are those of an earlier build is
 * not rendered again: a look at each file says whether it is still the one that was written then.
 */
export class StaticOutputs {
  /** The paths of all files that the tree has to have. */
  readonly wanted = new Set<string>()
  changed = 0
  readonly #tree: PublicTree
  readonly #cache: BuildCache

  constructor(tree: PublicTree, cache: BuildCache) {
    this.#tree = tree
    this.#cache = cache
  }

  /** Makes the files of a group what they have to be. */
  async write({ id, inputs, render }: OutputGroup): Promise<void> {
    const key = `outputs ${id}`
    const digest = digestOf(inputs)
    const known = this.#cache.get<{ inputs: string; stamps: Stamp[] }>(key)
    let stamps = known?.inputs === digest ? await this.#intact(known.stamps) : null
    if (stamps === null) {
      stamps = []
      for await (const output of render()) {
        if (await this.#tree.write(output)) this.changed++
        stamps.push(this.#stamp(output.path, sha256(output.bytes)))
      }
    }
    if (stamps !== known?.stamps) this.#cache.set(key, { inputs: digest, stamps })
    for (const [path] of stamps) this.wanted.add(path)
  }

  /** The stamps with the times of now, if every file has the bytes that were written; else null. */
  async #intact(stamps: Stamp[]): Promise<Stamp[] | null> {
    const fresh: Stamp[] = []
    for (const stamp of stamps) {
      const [path, size, modified, checksum] = stamp
      const now = this.#stamp(path, checksum)
      if (now[1] !== size) return null
      // After a power cut, or on another machine, the time says nothing of the bytes.
      if (now[2] !== modified || !this.#cache.isSameBoot) {
        const bytes = await this.#tree.read(path)
        if (bytes === null || sha256(bytes) !== checksum) return null
      }
      fresh.push(now)
    }
    return fresh.every((one, at) => one[2] === stamps[at]?.[2]) ? stamps : fresh
  }

  #stamp(path: string, checksum: string): Stamp {
    // Not one after the other through the thread pool: a tree may have a million files.
    const facts = statSync(this.#tree.path(path), { bigint: true, throwIfNoEntry: false })
    return [path, facts?.isFile() ? Number(facts.size) : -1, `${facts?.mtimeNs}`, checksum]
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url')
}
