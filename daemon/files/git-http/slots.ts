import { refuse } from '../../../generator/index.ts'

/**
 * Limits running git processes and waiting clients; refuses more. One client gets at most half of
 * either, so that a slow client leaves the other half free.
 */
export class Slots {
  readonly #concurrent: number
  readonly #all: number
  /** The client of each request, from its arrival until it leaves. */
  readonly #admitted: string[] = []
  readonly #running: string[] = []
  /** The waiting clients in order of arrival, by the function that lets them continue. */
  readonly #waiting = new Map<() => void, string>()

  constructor(concurrent: number, waiting: number) {
    this.#concurrent = concurrent
    this.#all = concurrent + waiting
  }

  admit(client: string): { start(signal: AbortSignal): Promise<void>; leave(): void } {
    if (!hasRoom(this.#admitted, client, this.#all)) refuse('git_busy')
    this.#admitted.push(client)
    let state: 'admitted' | 'running' | 'left' = 'admitted'
    return {
      start: async signal => {
        if (hasRoom(this.#running, client, this.#concurrent)) this.#running.push(client)
        else await this.#turn(client, signal)
        state = 'running'
      },
      leave: () => {
        if (state === 'left') return
        this.#admitted.splice(this.#admitted.indexOf(client), 1)
        if (state === 'running') this.#pass(client)
        state = 'left'
      },
    }
  }

  /** Hands a slot to the longest-waiting client that holds fewer than half of the slots. */
  #pass(leaving: string): void {
    this.#running.splice(this.#running.indexOf(leaving), 1)
    for (const [go, client] of this.#waiting) {
      if (!hasRoom(this.#running, client, this.#concurrent)) continue
      this.#waiting.delete(go)
      this.#running.push(client)
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

/** Returns whether one more request of a client fits into `most`; a client gets at most half. */
function hasRoom(clients: readonly string[], client: string, most: number): boolean {
  const own = clients.filter(one => one === client)
  return clients.length < most && own.length < Math.ceil(most / 2)
}
