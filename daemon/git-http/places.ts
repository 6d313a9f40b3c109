import { refuse } from '../../generator/index.ts'

/** So many may run and so many wait; the rest is sent away, so that a crowd costs neither processes nor memory. */
export class Places {
  readonly #concurrent: number
  readonly #all: number
  readonly #waiting = new Set<() => void>()
  #running = 0
  #admitted = 0

  constructor(concurrent: number, waiting: number) {
    this.#concurrent = concurrent
    this.#all = concurrent + waiting
  }

  admit(): { start(signal: AbortSignal): Promise<void>; leave(): void } {
    if (this.#admitted >= this.#all) refuse('git_busy')
    this.#admitted++
    let state: 'admitted' | 'running' | 'left' = 'admitted'
    return {
      start: async signal => {
        if (this.#running < this.#concurrent) this.#running++
        else await this.#turn(signal)
        state = 'running'
      },
      leave: () => {
        if (state === 'left') return
        this.#admitted--
        if (state === 'running') this.#pass()
        state = 'left'
      },
    }
  }

  /** Hands a running place to whoever has waited longest. */
  #pass(): void {
    const [next] = this.#waiting
    if (!next) this.#running--
    else if (this.#waiting.delete(next)) next()
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const gone = (): void => {
        this.#waiting.delete(go)
        reject(signal.reason)
      }
      const go = (): void => {
        signal.removeEventListener('abort', gone)
        resolve()
      }
      this.#waiting.add(go)
      signal.addEventListener('abort', gone, { once: true })
    })
  }
}
