import type { OnFailure } from '../../core/async/on-failure.ts'
import { Repeater } from '../../core/async/repeater.ts'
import { dayOf } from '../../core/day-counts.ts'
import { releaseOfPath } from '../../core/paths/crates.ts'
import {
  addDownloads,
  hasDueDownloads,
  markDueDownloads,
} from '../../generator/records/downloads/count.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Worker } from './worker.ts'

/** Counts downloads in memory by path, of files that exist: strangers cannot make up more. */
export class DownloadCounter {
  #counts = new Map<string, number>()

  /** Counts downloads of a file; a number comes from another process, or back from a drain. */
  readonly count = (path: string, n = 1): void => {
    this.#counts.set(path, (this.#counts.get(path) ?? 0) + n)
  }

  drain(): ReadonlyMap<string, number> {
    const counts = this.#counts
    this.#counts = new Map()
    return counts
  }
}

/** How often counts are written, in milliseconds; a crash loses at most as much. */
const WRITE_EVERY = 60_000

const BATCH = 200

/** The most crates whose files are rendered again per minute: 144,000 a day. */
const SHOWN_PER_MINUTE = 100

export interface DownloadWorkerDeps {
  readonly context: Registry
  readonly counter: DownloadCounter
  readonly onWritten: (n: number) => void
  readonly onFailure: OnFailure
  readonly onMarked: () => void
}

/** Writes the counted downloads to the records once a minute, and marks what shows them. */
export class DownloadWorker implements Worker {
  readonly #deps: DownloadWorkerDeps
  readonly #repeater = new Repeater(async () => {
    await this.#write()
    return WRITE_EVERY
  })

  constructor(deps: DownloadWorkerDeps) {
    this.#deps = deps
  }

  async start(): Promise<void> {
    this.#repeater.schedule(WRITE_EVERY)
  }

  flush(): Promise<void> {
    return this.#repeater.run()
  }

  async close(): Promise<void> {
    await this.#repeater.close()
    await this.#write()
  }

  async #write(): Promise<void> {
    const { context, counter, onWritten, onFailure, onMarked } = this.#deps
    const now = context.clock()
    const waiting = [...counter.drain()]
    try {
      while (waiting.length > 0) {
        const batch = waiting.slice(0, BATCH)
        const counts = batch.flatMap(([path, n]) => {
          const release = releaseOfPath(path)
          return release ? [{ release, day: dayOf(now), n }] : []
        })
        await context.database.transaction(tx => addDownloads(tx, counts, now))
        waiting.splice(0, BATCH)
        onWritten(batch.reduce((sum, [, n]) => sum + n, 0))
      }
      onFailure.done?.()
      if (!(await hasDueDownloads(context.database, now))) return
      await context.database.transaction(tx => markDueDownloads(tx, now, SHOWN_PER_MINUTE))
      onMarked()
    } catch (error) {
      for (const [path, n] of waiting) counter.count(path, n)
      onFailure(error)
    }
  }
}
