import type { ServerHttp2Stream } from 'node:http2'
import Queue from 'yocto-queue'

const AT_ONCE = 4

interface Waiting {
  readonly stream: Pick<ServerHttp2Stream, 'destroyed'>
  readonly begin: () => void
}

/**
 * Requests over HTTP/2 that wait for the app; each tick of the event loop begins a few. Node
 * reports a reset a moment after the request, so requests that a client resets as fast as it sends
 * them (CVE-2023-44487) cost no answers, and keep nobody waiting.
 */
export class WaitingStreams {
  readonly #queue = new Queue<Waiting>()
  readonly #atOnce: number

  constructor(atOnce = AT_ONCE) {
    this.#atOnce = atOnce
  }

  add(stream: Waiting['stream'], begin: () => void): void {
    this.#queue.enqueue({ stream, begin })
    if (this.#queue.size === 1) setImmediate(() => this.#begin())
  }

  #begin(): void {
    const ready: Waiting[] = []
    while (ready.length < this.#atOnce && this.#queue.size > 0) {
      const next = this.#queue.dequeue()
      if (next && !next.stream.destroyed) ready.push(next)
    }
    if (this.#queue.size > 0) setImmediate(() => this.#begin())
    for (const { begin } of ready) begin()
  }
}
