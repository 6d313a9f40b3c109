import type { IncomingMessage, ServerResponse } from 'node:http'
import { request as connect, createServer } from 'node:http'
import type { Cleanup } from './cleanup.ts'
import { closeServer, listen } from './loopback.ts'
import { RequestLog } from './request-log.ts'

/**
 * Passes every request on as it came, headers in their order and case (Cargo's offer of an h2c upgrade included), and
 * records it. Its URL is known before the server behind it exists, so it can be that server's base URL.
 */
export class RecordingProxy {
  readonly requests = new RequestLog()
  readonly url: string
  #target: URL | undefined

  private constructor(url: string) {
    this.url = url
  }

  static async start(cleanup: Cleanup): Promise<RecordingProxy> {
    const server = createServer()
    const proxy = new RecordingProxy(await listen(server))
    cleanup.add(() => closeServer(server))
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) => proxy.#pass(incoming, response))
    return proxy
  }

  /** From now on requests go to the server at `url`. */
  passTo(url: string): void {
    this.#target = new URL(url)
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const logged = this.requests.add(incoming.method ?? '', incoming.url ?? '', incoming.headers)
    if (!this.#target) {
      logged.status = 502
      response.writeHead(502).end('nothing is behind this proxy yet')
      return
    }
    const { hostname, port } = this.#target
    const outgoing = connect({
      hostname,
      port,
      method: logged.method,
      path: logged.url,
      headers: pairs(incoming.rawHeaders),
      agent: false,
    })
    outgoing.on('response', answer => {
      logged.status = answer.statusCode ?? 0
      logged.responseHeaders = answer.headers
      response.writeHead(logged.status, pairs(answer.rawHeaders))
      answer.pipe(response)
    })
    // A server that hangs up must look so to the client too.
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  }
}

/** Raw headers (`[name, value, …]`) as an object that keeps repeated ones. */
function pairs(raw: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? ''
    const value = raw[at + 1] ?? ''
    const before = headers[name]
    headers[name] = before === undefined ? value : [before, value].flat()
  }
  return headers
}
