import type { Name } from '../../core/name.ts'
import type { UpstreamCrate } from '../../core/upstream/crate.ts'
import { needsOf } from '../../core/upstream/line.ts'
import { type FoundCrate, INDEX_FILE_MAX } from './crate-index.ts'
import { sizeOf } from './known-crates.ts'
import type { Spend } from './refusal.ts'

interface Finder {
  isFresh(name: Name): boolean
  crate(name: Name, isMeant: boolean, spend: Spend): Promise<FoundCrate>
}

/** An index file that somebody asked for, and what is fetched ahead for it; sizes in characters. */
interface Root {
  readonly spend: Spend
  readonly seen: Set<Name>
  readonly names: Name[]
  running: number
  size: number
  largest: number
}

/** Index files that are fetched ahead at a time, and those for which more are. */
const AT_ONCE = 24
const ROOTS = 100

/** The most files and characters for one index file, and what a file is hardly ever larger than. */
const FILES = 1000
const SIZE = 64 * 1024 * 1024
const USUAL = 2.5 * 1024 * 1024

/** Fetches the index files that Cargo asks for next, within a budget for each that was asked for. */
export class LookAhead {
  readonly #upstream: Finder
  readonly #roots = new Set<Root>()
  #running = 0

  constructor(upstream: Finder) {
    this.#upstream = upstream
  }

  /** Begins to fetch what the newest version of a crate depends on; the caller has to `spend` it. */
  begin(crate: UpstreamCrate, spend: Spend): void {
    const root = { spend, seen: new Set<Name>(), names: [], running: 0, size: 0, largest: 0 }
    if (this.#roots.size < ROOTS) this.#add(crate, root)
  }

  #add(crate: UpstreamCrate, root: Root): void {
    const newest = [...crate.lines.values()].filter(line => !line.yanked).at(-1)
    for (const { name, optional } of newest ? needsOf(newest) : []) {
      if (optional || root.seen.has(name) || this.#upstream.isFresh(name)) continue
      if (root.seen.size >= FILES) break
      root.seen.add(name)
      root.names.push(name)
    }
    this.#roots.add(root)
    this.#next()
  }

  /** Begins what it may: some connections stay free for requests, which may run out of time. */
  #next(): void {
    for (const root of this.#roots) {
      // A file under way may be as large as the largest so far; before the first, as one can be.
      const each = root.largest === 0 ? INDEX_FILE_MAX : Math.max(root.largest, USUAL)
      const hasRoom = () => root.size + (root.running + 1) * each <= SIZE
      while (hasRoom() && this.#running < AT_ONCE) {
        const name = root.names.shift()
        if (name === undefined) break
        void this.#fetch(name, root)
      }
      if (root.running === 0 && (root.names.length === 0 || !hasRoom())) this.#roots.delete(root)
    }
  }

  async #fetch(name: Name, root: Root): Promise<void> {
    this.#running++
    root.running++
    // A client that needs the file asks for it and gets the reason.
    const find = () => this.#upstream.crate(name, false, root.spend).catch(() => null)
    const found = await (this.#upstream.isFresh(name) ? null : find())
    this.#running--
    root.running--
    if (!found?.crate || found.staleSince !== null) return this.#next()
    const size = sizeOf(found.crate)
    root.size += size
    root.largest = Math.max(root.largest, size)
    this.#add(found.crate, root)
  }
}
