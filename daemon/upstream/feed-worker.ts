import { Repeater } from '../../core/async/repeater.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { failed } from '../../generator/upstream/counts.ts'
import { checkFeed } from '../../generator/upstream/feed.ts'
import type { Upstreams } from '../../generator/upstream/open.ts'
import type { Worker } from '../workers/worker.ts'

/** How often the feeds of upstreams are read, and the first time after a start, in milliseconds. */
const INTERVAL_MS = 600_000
const FIRST_MS = 30_000

/** Reads the names of new crates at upstreams and looks for own ones among them. */
export class FeedWorker implements Worker {
  readonly #repeater: Repeater
  readonly #hasFeeds: boolean

  constructor(registry: Registry, { byName }: Upstreams) {
    const all = [...byName.values()].filter(({ settings }) => settings.feed !== '')
    this.#hasFeeds = all.length > 0
    this.#repeater = new Repeater(async () => {
      for (const upstream of all) {
        // The metrics and the page of the upstream tell why.
        await checkFeed(registry, upstream).catch(error => failed(upstream.source.counts, error))
      }
      return INTERVAL_MS
    })
  }

  async start(): Promise<void> {
    if (this.#hasFeeds) this.#repeater.schedule(FIRST_MS)
  }

  async close(): Promise<void> {
    await this.#repeater.close()
  }
}
