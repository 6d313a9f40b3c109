/** The most files that are counted at once; more wait for the next drain without being counted. */
const MOST_FILES = 100_000

/**
 * Counts downloads in memory, by the path of the `.crate`, until they are drained. Paths are those
 * of files that exist, so strangers cannot make up more of them.
 */
export class DownloadCounter {
  /** Counting stops when so many files are waiting, because draining fails. */
  readonly #most: number
  #counts = new Map<string, number>()

  constructor(most = MOST_FILES) {
    this.#most = most
  }

  /** The number of files with downloads since the last drain. */
  get size(): number {
    return this.#counts.size
  }

  /** Counts downloads of a file; a number comes from another process, or back from a drain. */
  readonly count = (path: string, n = 1): void => {
    const before = this.#counts.get(path)
    if (before !== undefined || this.#counts.size < this.#most)
      this.#counts.set(path, (before ?? 0) + n)
  }

  /** Returns the downloads since the last drain by path, and begins anew. */
  drain(): ReadonlyMap<string, number> {
    const counts = this.#counts
    this.#counts = new Map()
    return counts
  }
}
