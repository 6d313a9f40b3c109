import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { request as connect, createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Cleanup } from './cleanup.ts'
import { closeServer, listen } from './loopback.ts'
import type { LoggedRequest } from './request-log.ts'
import { RequestLog } from './request-log.ts'

/** A whole answer that may be changed in place. */
export interface Reply {
  status: number
  headers: OutgoingHttpHeaders
  body: Buffer
}

/**
 * A fault in place of the server's answer: another answer, none (then the server has seen the
 * request or not), its first half, or the answer with changes.
 */
export type Fault =
  | {
      readonly meets: 'answer'
      readonly status: number
      readonly headers?: OutgoingHttpHeaders
      readonly body?: string
    }
  | { readonly meets: 'silence'; readonly isPassedOn: boolean }
  | { readonly meets: 'half' }
  | { readonly meets: 'change'; readonly change: (reply: Reply) => void }

/** The fault that a request meets, if any. */
export type Faults = (request: LoggedRequest) => Fault | undefined

/**
 * Passes every request on as it came, headers in their order and case (Cargo's offer of an h2c
 * upgrade included), and records it. Its URL is known before the server behind it exists, so it can
 * be that server's base URL.
 */
export class RecordingProxy {
  readonly requests = new RequestLog()
  readonly url: string
  #targets: readonly URL[] = []
  #next = 0
  #faults: Faults = () => undefined

  private constructor(url: string) {
    this.url = url
  }

  static async start(cleanup: Cleanup): Promise<RecordingProxy> {
    const server = createServer()
    const proxy = new RecordingProxy(await listen(server))
    cleanup.add(() => closeServer(server))
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) =>
      proxy.#answer(incoming, response),
    )
    return proxy
  }

  /** From now on requests go to the servers at these URLs in turn. */
  passTo(...urls: readonly string[]): void {
    this.#targets = urls.map(url => new URL(url))
  }

  /** From now on requests meet these faults; none at all unless given. */
  interfere(faults: Faults = () => undefined): void {
    this.#faults = faults
  }

  #answer(incoming: IncomingMessage, response: ServerResponse): void {
    const logged = this.requests.add(incoming.method ?? '', incoming.url ?? '', incoming.headers)
    const fault = this.#faults(logged)
    if (fault?.meets === 'answer') {
      logged.status = fault.status
      incoming
        .resume()
        .on('end', () => response.writeHead(fault.status, fault.headers).end(fault.body))
      return
    }
    if (fault?.meets === 'silence' && !fault.isPassedOn) {
      incoming.resume().on('end', () => response.destroy())
      return
    }
    const hangUp = () => response.destroy()
    const answered = (answer: IncomingMessage): void => {
      if (fault?.meets === 'change') alter(answer, response, fault.change).catch(hangUp)
      else if (fault) damage(answer, response, fault.meets === 'half').catch(hangUp)
      else answer.pipe(response.writeHead(logged.status, pairs(answer.rawHeaders)))
    }
    const passed = this.#pass(logged, incoming, answered).on('error', hangUp)
    // A client that goes away leaves nobody waiting behind the proxy.
    response.on('close', () => response.writableFinished || passed.destroy())
  }

  /**
   * Passes a request on; the caller sees to the answer, and that a server that hangs up looks so to
   * the client too.
   */
  #pass(
    logged: LoggedRequest,
    incoming: IncomingMessage,
    answered: (answer: IncomingMessage) => void,
  ): ClientRequest {
    const target = this.#targets[this.#next++ % this.#targets.length]
    if (!target) throw new Error('nothing is behind this proxy yet')
    const { hostname, port } = target
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
      answered(answer)
    })
    incoming.pipe(outgoing)
    return outgoing
  }
}

async function alter(
  answer: IncomingMessage,
  response: ServerResponse,
  change: (reply: Reply) => void,
): Promise<void> {
  const { 'content-length': _, 'transfer-encoding': __, ...headers } = answer.headers
  const reply = { status: answer.statusCode ?? 0, headers, body: await buffer(answer) }
  change(reply)
  response.writeHead(reply.status, reply.headers).end(reply.body)
}

/** Lets nothing of the answer through, or its head and half of its body. */
async function damage(
  answer: IncomingMessage,
  response: ServerResponse,
  isHalf: boolean,
): Promise<void> {
  const bytes = await buffer(answer)
  if (isHalf) {
    response.writeHead(answer.statusCode ?? 0, pairs(answer.rawHeaders))
    await new Promise(written => response.write(bytes.subarray(0, bytes.length / 2), written))
  }
  response.destroy()
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
