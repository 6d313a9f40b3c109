import { issue, Refusal } from '../../core/error/error.ts'

export interface SlotLimits {
  readonly running: number
  readonly waiting: number
  /** The longest wait, in milliseconds; without it, a request waits until its client leaves. */
  readonly waitMs?: number
  readonly busy: 'git_busy' | 'downloads_busy' | 'upstream_busy'
}

export interface Slot {
  /** Resolves when the request may run; refuses when it has waited too long or `signal` aborts. */
  start(signal?: AbortSignal): Promise<void>
  leave(): void
}

/** Limits running and waiting requests; one client gets at most half of either. */
export class Slots {
  readonly #limits: SlotLimits
  readonly #admitted: Shares
  readonly #running: Shares
  /** The waiting clients in order of arrival, by the function that lets them continue. */
  readonly #waiting = new Map<() => void, string>()
  /** Requests that are not ready to run, in order of arrival, by the function that ends them. */
  readonly #unready = new Map<() => void, string>()

  constructor(limits: SlotLimits) {
    this.#limits = limits
    this.#admitted = new Shares(limits.running + limits.waiting)
    this.#running = new Shares(limits.running)
  }

  /**
   * Takes a request in; refuses it when there is no place for its client. With `drop`, the request
   * is not ready to run until it starts, for example because its body has not arrived. Until then
   * it may lose its place to a newer request, and `drop` is called.
   */
  admit(client: string, drop?: () => void): Slot {
    if (!this.#admitted.hasRoom(client)) this.#dropFor(client)
    if (!this.#admitted.hasRoom(client)) throw this.#refusal()
    this.#admitted.add(client)
    let state: 'admitted' | 'running' | 'left' = 'admitted'
    const lose = () => {
      leave()
      drop?.()
    }
    const leave = () => {
      this.#unready.delete(lose)
      if (state === 'left') return
      this.#admitted.remove(client)
      if (state === 'running') this.#pass(client)
      state = 'left'
    }
    if (drop) this.#unready.set(lose, client)
    return {
      start: async signal => {
        this.#unready.delete(lose)
        if (state === 'left') throw this.#refusal()
        if (this.#running.hasRoom(client)) this.#running.add(client)
        else await this.#wait(client, signal)
        state = 'running'
      },
      leave,
    }
  }

  /** Ends the oldest request that is not ready, of this client if it has its share of places. */
  #dropFor(client: string): void {
    const isOwn = this.#admitted.hasShare(client)
    for (const [lose, other] of this.#unready) {
      if (isOwn && other !== client) continue
      lose()
      return
    }
  }

  /** Hands a place to the longest-waiting client that holds fewer than half of them. */
  #pass(leaving: string): void {
    this.#running.remove(leaving)
    for (const [go, client] of this.#waiting) {
      if (!this.#running.hasRoom(client)) continue
      this.#waiting.delete(go)
      this.#running.add(client)
      go()
      return
    }
  }

  async #wait(client: string, signal?: AbortSignal): Promise<void> {
    const { waitMs } = this.#limits
    if (signal?.aborted) throw this.#refusal()
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', gone)
      }
      const gone = (): void => {
        end()
        this.#waiting.delete(go)
        reject(this.#refusal())
      }
      const go = (): void => {
        end()
        resolve()
      }
      const timer = waitMs === undefined ? undefined : setTimeout(gone, waitMs)
      this.#waiting.set(go, client)
      signal?.addEventListener('abort', gone, { once: true })
    })
  }

  #refusal(): Refusal {
    return new Refusal([issue(this.#limits.busy)])
  }
}

class Shares {
  readonly #most: number
  readonly #counts = new Map<string, number>()
  #all = 0

  constructor(most: number) {
    this.#most = most
  }

  hasRoom(client: string): boolean {
    return this.#all < this.#most && !this.hasShare(client)
  }

  hasShare(client: string): boolean {
    return (this.#counts.get(client) ?? 0) >= Math.ceil(this.#most / 2)
  }

  add(client: string): void {
    this.#all++
    this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1)
  }

  remove(client: string): void {
    this.#all--
    const own = (this.#counts.get(client) ?? 0) - 1
    if (own > 0) this.#counts.set(client, own)
    else this.#counts.delete(client)
  }
}
