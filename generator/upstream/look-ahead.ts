import type { Name } from '../../core/name.ts'
import type { UpstreamCrate } from '../../core/upstream/crate.ts'
import { needsOf } from '../../core/upstream/line.ts'
import { type FoundCrate, INDEX_FILE_MAX } from './crate-index.ts'
import { sizeOf } from './known-crates.ts'
import type { Spend } from './refusal.ts'

interface LookAheadOptions {
  readonly isFresh: (name: Name) => boolean
  readonly find: (name: Name, spend: Spend) => Promise<FoundCrate>
}

/** An index file that somebody asked for, and what is fetched ahead for it. */
interface Root {
  readonly spend: Spend
  readonly seen: Set<Name>
  readonly names: Name[]
  running: number
  size: number
}

/** Index files that are fetched ahead of those who will ask: at a time, and waiting. */
const AT_ONCE = 24
const WAITING = 1000

/** The most that is fetched ahead for one index file: files, and characters. */
const FILES = 1000
const SIZE = 64 * 1024 * 1024

/** Fetches the index files that Cargo asks for next, within a budget for each that was asked for. */
export class LookAhead {
  readonly #options: LookAheadOptions
  readonly #roots = new Set<Root>()
  #running = 0
  #waiting = 0

  constructor(options: LookAheadOptions) {
    this.#options = options
  }

  /** Begins to fetch what the newest version of a crate depends on; the caller has to `spend` it. */
  begin(crate: UpstreamCrate, spend: Spend): void {
    this.#add(crate, { spend, seen: new Set(), names: [], running: 0, size: 0 })
  }

  #add(crate: UpstreamCrate, root: Root): void {
    const newest = [...crate.lines.values()].filter(line => !line.yanked).at(-1)
    for (const { name, optional } of newest ? needsOf(newest) : []) {
      if (optional || root.seen.has(name) || this.#options.isFresh(name)) continue
      if (root.seen.size >= FILES || this.#waiting >= WAITING) break
      root.seen.add(name)
      root.names.push(name)
      this.#waiting++
    }
    this.#roots.add(root)
    this.#next()
  }

  /** Begins what it may: some connections stay free for requests, which may run out of time. */
  #next(): void {
    for (const root of this.#roots) {
      // Each file that is under way may be as large as one can be.
      const hasRoom = () => root.size + (root.running + 1) * INDEX_FILE_MAX <= SIZE
      while (hasRoom() && this.#running < AT_ONCE) {
        const name = root.names.shift()
        if (name === undefined) break
        this.#waiting--
        void this.#fetch(name, root)
      }
      if (root.running > 0 || (root.names.length > 0 && hasRoom())) continue
      this.#roots.delete(root)
      this.#waiting -= root.names.splice(0).length
    }
  }

  async #fetch(name: Name, root: Root): Promise<void> {
    const { isFresh, find } = this.#options
    this.#running++
    root.running++
    // A client that needs the file asks for it and gets the reason.
    const found = await (isFresh(name) ? null : find(name, root.spend).catch(() => null))
    this.#running--
    root.running--
    if (!found?.crate || found.staleSince !== null) return this.#next()
    root.size += sizeOf(found.crate)
    this.#add(found.crate, root)
  }
}
