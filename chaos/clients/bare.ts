import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Paths of a certificate and its key. */
export interface Pair {
  readonly cert: string
  readonly key: string
}

/**
 * The cost of Node itself for everybody else under an attack: a server that answers each request
 * with two bytes, and does nothing else. Runs in its own thread.
 */
export class BareServer {
  readonly #worker: Worker

  constructor(pair: Pair) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: pair })
  }

  /** Its address, once it listens. To be asked once. */
  async url(): Promise<string> {
    return new Promise(resolve => this.#worker.once('message', resolve))
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

function serve({ cert, key }: Pair): void {
  const pair = { cert: readFileSync(cert), key: readFileSync(key) }
  const server = createSecureServer({ allowHTTP1: true, ...pair })
  server.on('request', (incoming, outgoing) => {
    if (incoming.httpVersionMajor === 1) outgoing.end('ok')
  })
  // Requests over HTTP/2 are answered on the stream, which is cheaper.
  server.removeAllListeners('stream')
  server.on('stream', stream => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200 })
    stream.end('ok')
  })
  server.on('sessionError', () => {})
  server.listen(0, '127.0.0.1', () => {
    parentPort?.postMessage(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}

if (!isMainThread) serve(workerData as Pair)
