import { fetchImages, nextImage, type PageContext } from '../../generator/index.ts'
import { Repeater } from './repeater.ts'

/** The pause after an unexpected error. */
const PAUSE_MS = 60_000

/** The shortest and longest time between two looks for images that are due. */
const MIN_WAIT_MS = 1000
const MAX_WAIT_MS = 3_600_000

/** What the image worker depends on. */
export interface ImageWorkerDeps {
  readonly context: PageContext
  readonly onFailure: (error: unknown) => void
  /** Called when pages are marked because there are more images. */
  readonly onFetched: () => void
}

/** Downloads the images of READMEs, where the operator wants copies, while nothing waits for it. */
export class ImageWorker {
  readonly #deps: ImageWorkerDeps
  readonly #repeater = new Repeater(() => this.#turn())
  readonly #closing = new AbortController()

  constructor(deps: ImageWorkerDeps) {
    this.#deps = deps
  }

  /** Schedules a turn: READMEs with other images may have been rendered. */
  wake(): void {
    if (this.#deps.context.site.images === 'copy') this.#repeater.schedule(0)
  }

  /** Abandons running downloads, which the next start begins again. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#repeater.close()
  }

  /** Returns the time until the next image is due. */
  async #turn(): Promise<number | null> {
    const { context, onFailure, onFetched } = this.#deps
    const { signal } = this.#closing
    try {
      while (!signal.aborted && (await fetchImages(context, signal))) onFetched()
      const next = signal.aborted ? null : await nextImage(context.database)
      if (next === null) return null
      const wait = Date.parse(next) - context.clock().getTime()
      return Math.min(Math.max(wait, MIN_WAIT_MS), MAX_WAIT_MS)
    } catch (error) {
      if (!signal.aborted) onFailure(error)
      return signal.aborted ? null : PAUSE_MS
    }
  }
}
