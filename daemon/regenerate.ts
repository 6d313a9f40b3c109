import { buildCrate, drain, type PageShop } from '../generator/index.ts'
import { PageLane } from './page-lane.ts'

/** Told of a build that failed; its marks stay, so it is tried again. */
export type BuildFailure = (error: unknown) => void

/**
 * The daemon's queue over `build`: at most one build of a crate at a time, and callers that come while it waits share
 * it. A failed build never fails what caused it: the marks stay in the catalog and the queue tries again.
 */
export class Regenerator {
  readonly #workshop: PageShop
  readonly #onFailure: BuildFailure
  /** What is rendered behind the publishes. */
  readonly pages: PageLane
  /** Builds that have not begun, by crate. */
  readonly #waiting = new Map<number, Promise<boolean>>()
  readonly #running = new Set<Promise<unknown>>()
  #retry: NodeJS.Timeout | null = null
  #pause = 1000

  constructor(workshop: PageShop, onFailure: BuildFailure) {
    this.#workshop = workshop
    this.#onFailure = onFailure
    this.pages = new PageLane({ shop: workshop, onFailure, calm: () => Promise.all(this.#running) })
  }

  /** Renders a crate; true when its public files now show every change made before this call. */
  crate(crateId: number): Promise<boolean> {
    const waiting = this.#waiting.get(crateId)
    if (waiting) return waiting
    const turn = this.#begin(crateId)
    this.#waiting.set(crateId, turn)
    this.#running.add(turn)
    void turn.finally(() => this.#running.delete(turn))
    return turn
  }

  /** Waits for what runs, renders the pages that are pending within `seconds`, and stops trying again. */
  async close(seconds = 30): Promise<void> {
    if (this.#retry) clearTimeout(this.#retry)
    this.#retry = null
    await Promise.all(this.#running)
    await this.pages.close(seconds)
  }

  async #begin(crateId: number): Promise<boolean> {
    try {
      await buildCrate(this.#workshop, crateId, () => this.#waiting.delete(crateId))
      this.pages.kick()
      return true
    } catch (error) {
      this.#waiting.delete(crateId)
      this.#onFailure(error)
      this.#schedule()
      return false
    }
  }

  #schedule(): void {
    if (this.#retry) return
    this.#retry = setTimeout(() => {
      this.#retry = null
      const turn = drain(this.#workshop).then(
        () => {
          this.#pause = 1000
        },
        error => {
          this.#pause = Math.min(this.#pause * 2, 60_000)
          this.#onFailure(error)
          this.#schedule()
        },
      )
      this.#running.add(turn)
      void turn.finally(() => this.#running.delete(turn))
    }, this.#pause)
    this.#retry.unref()
  }
}
