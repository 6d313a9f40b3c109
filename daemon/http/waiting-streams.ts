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
export function waitingStreams(atOnce = AT_ONCE) {
  const queue = new Queue<Waiting>()
  const beginSome = () => {
    const ready: Waiting[] = []
    while (ready.length < atOnce && queue.size > 0) {
      const next = queue.dequeue()
      if (next && !next.stream.destroyed) ready.push(next)
    }
    if (queue.size > 0) setImmediate(beginSome)
    for (const { begin } of ready) begin()
  }
  return (stream: Waiting['stream'], begin: () => void): void => {
    queue.enqueue({ stream, begin })
    if (queue.size === 1) setImmediate(beginSome)
  }
}
