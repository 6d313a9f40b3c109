import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Writable } from 'node:stream'

type Headers = Readonly<Record<string, string>>

/** A request as Node provides it, to be answered without the objects that the app creates. */
export interface Exchange {
  readonly method: string
  /** Path and query as the client sent them. */
  readonly target: string
  header(name: string): string | undefined
  /** Calls `work` when the answers before this one are sent: a client may ask ahead (pipelining). */
  inTurn(work: () => void): void
  /** Sends an answer. */
  send(status: number, headers: Headers, body: Buffer | null): void
  /** Sends the status and headers; returns the stream for the body, which the caller must end. */
  begin(status: number, headers: Headers): Writable
}

/** Either answers a request or calls `leave`, and then the app answers it. */
export type Quick = (exchange: Exchange, leave: () => void) => void

/** Creates an exchange over HTTP/1.1. */
export function http1Exchange(
  { method = '', url = '', rawHeaders }: IncomingMessage,
  outgoing: ServerResponse,
): Exchange {
  return {
    method,
    target: url,
    // `headers` would make Node prepare all headers, although only two are needed.
    header(name) {
      let found: string | undefined
      for (let at = 0; at < rawHeaders.length; at += 2) {
        const key = rawHeaders[at]
        if (key?.length !== name.length || key.toLowerCase() !== name) continue
        found = found === undefined ? rawHeaders[at + 1] : `${found}, ${rawHeaders[at + 1]}`
      }
      return found
    },
    inTurn(work) {
      if (outgoing.socket) work()
      else outgoing.once('socket', work)
    },
    send: (status, headers, body) => outgoing.writeHead(status, headers).end(body ?? undefined),
    begin: (status, headers) => outgoing.writeHead(status, headers),
  }
}

/** Creates an exchange over HTTP/2, directly on the stream. */
export function http2Exchange(stream: ServerHttp2Stream, asked: IncomingHttpHeaders): Exchange {
  const begin = (status: number, headers: Headers, endStream = false) => {
    stream.on('error', ignore)
    if (!stream.closed && !stream.destroyed)
      stream.respond({ ...headers, ':status': status }, { endStream })
    return stream
  }
  return {
    method: asked[':method'] ?? '',
    target: asked[':path'] ?? '',
    header: name => asked[name]?.toString(),
    inTurn: work => work(),
    begin,
    send(status, headers, body) {
      begin(status, headers, body === null)
      if (body !== null) stream.end(body)
    },
  }
}

/** A client may cancel its stream at any time, which is not an error of the daemon. */
function ignore(): void {}
