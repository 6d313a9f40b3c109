import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Writable } from 'node:stream'

/**
 * A request as Node gives it, and the way to answer it: for answers that are so many that the
 * objects of an app would cost more than the answer.
 */
export interface Exchange {
  readonly method: string
  /** Path and query, as the client sent them. */
  readonly target: string
  header(name: string): string | undefined
  /** Sends an answer. */
  send(status: number, headers: Headers, body: Buffer | null): void
  /** Sends the head of an answer; gives where its body goes, which must be ended. */
  begin(status: number, headers: Headers): Writable
}

type Headers = Readonly<Record<string, string>>

/** Answers a request, or calls `leave` so that the app does; never both. */
export type Quick = (exchange: Exchange, leave: () => void) => void

/** HTTP/1.1. Looks into the raw headers: Node would prepare all for the sake of two. */
export class Http1Exchange implements Exchange {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  get method(): string {
    return this.#incoming.method ?? ''
  }

  get target(): string {
    return this.#incoming.url ?? ''
  }

  header(name: string): string | undefined {
    const { rawHeaders } = this.#incoming
    let found: string | undefined
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const key = rawHeaders[at]
      if (key?.length !== name.length || key.toLowerCase() !== name) continue
      found = found === undefined ? rawHeaders[at + 1] : `${found}, ${rawHeaders[at + 1]}`
    }
    return found
  }

  send(status: number, headers: Headers, body: Buffer | null): void {
    this.#outgoing.writeHead(status, headers).end(body ?? undefined)
  }

  begin(status: number, headers: Headers): Writable {
    return this.#outgoing.writeHead(status, headers)
  }
}

/** HTTP/2, on the stream itself. */
export class Http2Exchange implements Exchange {
  readonly #stream: ServerHttp2Stream
  readonly #headers: IncomingHttpHeaders

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream
    this.#headers = headers
  }

  get method(): string {
    return this.#headers[':method'] ?? ''
  }

  get target(): string {
    return this.#headers[':path'] ?? ''
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  send(status: number, headers: Headers, body: Buffer | null): void {
    const stream = this.begin(status, headers, body === null)
    if (body !== null) stream.end(body)
  }

  begin(status: number, headers: Headers, endStream = false): Writable {
    const stream = this.#stream
    stream.on('error', ignore)
    if (!stream.closed && !stream.destroyed)
      stream.respond({ ...headers, ':status': status }, { endStream })
    return stream
  }
}

/** A client may give up its stream at any time. That is no failure of ours. */
function ignore(): void {}
