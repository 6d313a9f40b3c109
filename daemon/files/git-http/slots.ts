import { refuse } from '../../../generator/index.ts'

/**
 * Slots for git processes and for clients that wait; the others are sent away. One client gets at
 * most half of either, so that a slow reader leaves the other half free.
 */
export class Slots {
  readonly #concurrent: number
  readonly #all: number
  readonly #admitted = new Tally()
  readonly #running = new Tally()
  /** Who waits, in the order of their coming, by what lets them go on. */
  readonly #waiting = new Map<() => void, string>()

  constructor(concurrent: number, waiting: number) {
    this.#concurrent = concurrent
    this.#all = concurrent + waiting
  }

  admit(client: string): { start(signal: AbortSignal): Promise<void>; leave(): void } {
    if (!this.#admitted.hasRoom(client, this.#all)) refuse('git_busy')
    this.#admitted.add(client)
    let state: 'admitted' | 'running' | 'left' = 'admitted'
    return {
      start: async signal => {
        if (this.#running.hasRoom(client, this.#concurrent)) this.#running.add(client)
        else await this.#turn(client, signal)
        state = 'running'
      },
      leave: () => {
        if (state === 'left') return
        this.#admitted.remove(client)
        if (state === 'running') this.#pass(client)
        state = 'left'
      },
    }
  }

  /** Hands a running slot to whoever has waited longest, of those who have not their half. */
  #pass(leaving: string): void {
    this.#running.remove(leaving)
    for (const [go, client] of this.#waiting) {
      if (!this.#running.hasRoom(client, this.#concurrent)) continue
      this.#waiting.delete(go)
      this.#running.add(client)
      go()
      return
    }
  }

  async #turn(client: string, signal: AbortSignal): Promise<void> {
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
      this.#waiting.set(go, client)
      signal.addEventListener('abort', gone, { once: true })
    })
  }
}

/** How many there are, in all and of each client. */
class Tally {
  readonly #clients = new Map<string, number>()
  #all = 0

  /** Whether one more of the client fits into `most`, of which one client gets half. */
  hasRoom(client: string, most: number): boolean {
    return this.#all < most && (this.#clients.get(client) ?? 0) < Math.ceil(most / 2)
  }

  add(client: string): void {
    this.#all++
    this.#clients.set(client, (this.#clients.get(client) ?? 0) + 1)
  }

  remove(client: string): void {
    this.#all--
    const left = (this.#clients.get(client) ?? 0) - 1
    if (left > 0) this.#clients.set(client, left)
    else this.#clients.delete(client)
  }
}
