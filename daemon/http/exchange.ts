// daemon/http: Requests and answers of HTTP, within bounds. All of daemon/ calls it; it has no
// route.
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
  afterEarlier(work: () => void): void
  send(status: number, headers: Headers, body: Buffer | null): void
  /** Sends the status and headers; returns the stream for the body, which the caller must end. */
  begin(status: number, headers: Headers): Writable
}

/** Either answers a GET or HEAD or calls `next`, and then the app answers it. */
export type FastPath = (exchange: Exchange, next: () => void) => void

/** An exchange over HTTP/1.1. */
export function http1Exchange(incoming: IncomingMessage, outgoing: ServerResponse): Exchange {
  const { method = '', url = '', rawHeaders } = incoming
  return {
    method,
    target: url,
    header: name => headerOf(rawHeaders, name),
    afterEarlier: work => void (outgoing.socket ? work() : outgoing.once('socket', work)),
    send: (status, headers, body) =>
      void outgoing.writeHead(status, headers).end(body ?? undefined),
    begin: (status, headers) => outgoing.writeHead(status, headers),
  }
}

/** Finds a header; `incoming.headers` would make Node prepare all, although only two are needed. */
function headerOf(headers: readonly string[], name: string): string | undefined {
  let text: string | undefined
  for (let at = 0; at < headers.length; at += 2) {
    const key = headers[at]
    if (key?.length !== name.length || key.toLowerCase() !== name) continue
    text = text === undefined ? headers[at + 1] : `${text}, ${headers[at + 1]}`
  }
  return text
}

/** An exchange over HTTP/2, on its stream; `silenceMs`: how long its client may read nothing. */
export function http2Exchange(
  stream: ServerHttp2Stream,
  asked: IncomingHttpHeaders,
  silenceMs: number,
): Exchange {
  const respond = (status: number, headers: Headers, endStream: boolean) => {
    if (!stream.closed && !stream.destroyed)
      stream.respond({ ...headers, ':status': status }, { endStream })
  }
  return {
    method: asked[':method'] ?? '',
    target: asked[':path'] ?? '',
    header: name => asked[name]?.toString(),
    afterEarlier: work => work(),
    send: (status, headers, body) => {
      respond(status, headers, body === null)
      if (body !== null) stream.end(body)
    },
    begin: (status, headers) => {
      respond(status, headers, false)
      endSilence(stream, silenceMs)
      return stream
    },
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
