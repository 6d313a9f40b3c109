import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Writable } from 'node:stream'

type Headers = Readonly<Record<string, string>>

/** A request as Node provides it, to be answered without the objects that the app creates. */
export interface Exchange {
  readonly method: string
  readonly target: string
  header(name: string): string | undefined
  /** Calls `work` when the answers before this one are sent: a client may ask ahead (pipelining). */
  inTurn(work: () => void): void
  send(status: number, headers: Headers, body: Buffer | null): void
  /** Sends the status and headers; returns the stream for the body, which the caller must end. */
  begin(status: number, headers: Headers): Writable
}

/** Either answers a request or calls `next`, and then the app answers it. */
export type FastPath = (exchange: Exchange, next: () => void) => void

/** An exchange over HTTP/1.1. */
export class Http1Exchange implements Exchange {
  readonly method: string
  readonly target: string
  readonly #headers: readonly string[]
  readonly #outgoing: ServerResponse

  constructor({ method = '', url = '', rawHeaders }: IncomingMessage, outgoing: ServerResponse) {
    this.method = method
    this.target = url
    // `headers` would make Node prepare all headers, although only two are needed.
    this.#headers = rawHeaders
    this.#outgoing = outgoing
  }

  header(name: string): string | undefined {
    const headers = this.#headers
    let found: string | undefined
    for (let at = 0; at < headers.length; at += 2) {
      const key = headers[at]
      if (key?.length !== name.length || key.toLowerCase() !== name) continue
      found = found === undefined ? headers[at + 1] : `${found}, ${headers[at + 1]}`
    }
    return found
  }

  inTurn(work: () => void): void {
    if (this.#outgoing.socket) work()
    else this.#outgoing.once('socket', work)
  }

  send(status: number, headers: Headers, body: Buffer | null): void {
    this.#outgoing.writeHead(status, headers).end(body ?? undefined)
  }

  begin(status: number, headers: Headers): Writable {
    return this.#outgoing.writeHead(status, headers)
  }
}

/** An exchange over HTTP/2, directly on the stream. */
export class Http2Exchange implements Exchange {
  readonly method: string
  readonly target: string
  readonly #headers: IncomingHttpHeaders
  readonly #stream: ServerHttp2Stream
  readonly #silenceMs: number

  /** `silenceMs`: the time that a body may wait while its client reads nothing. */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, silenceMs: number) {
    this.#silenceMs = silenceMs
    this.method = headers[':method'] ?? ''
    this.target = headers[':path'] ?? ''
    this.#headers = headers
    this.#stream = stream
  }

  header(name: string): string | undefined {
    return this.#headers[name]?.toString()
  }

  inTurn(work: () => void): void {
    work()
  }

  send(status: number, headers: Headers, body: Buffer | null): void {
    this.#respond(status, headers, body === null)
    if (body !== null) this.#stream.end(body)
  }

  begin(status: number, headers: Headers): Writable {
    this.#respond(status, headers, false)
    endSilence(this.#stream, this.#silenceMs)
    return this.#stream
  }

  #respond(status: number, headers: Headers, endStream: boolean): void {
    const stream = this.#stream
    stream.on('error', ignore)
    if (!stream.closed && !stream.destroyed)
      stream.respond({ ...headers, ':status': status }, { endStream })
  }
}

/** A waiting client gets another millisecond for this many bytes in one piece. */
const BYTES_PER_MS = 1

/**
 * Resets a stream whose client has read nothing for `silenceMs`. Node's own time limit does not
 * help: a client's pings reset it. Nobody can tell how much of a single piece the client has read,
 * so a larger piece gets more time.
 */
export function endSilence(stream: ServerHttp2Stream, silenceMs: number): void {
  let waiting = 0
  const look = () => {
    const { writableLength } = stream
    if (writableLength === 0 || writableLength !== waiting) {
      waiting = writableLength
      timer = setTimeout(look, silenceMs + waiting / BYTES_PER_MS).unref()
    } else stream.close(constants.NGHTTP2_CANCEL)
  }
  let timer = setTimeout(look, silenceMs).unref()
  const moves = () => {
    waiting = 0
    timer.refresh()
  }
  stream.on('end', moves).on('drain', moves)
  stream.once('close', () => clearTimeout(timer))
}

/** A client may cancel its stream at any time, which is not an error of the daemon. */
export function ignore(): void {}
