import { once } from 'node:events'
import { chmod, lstat, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, METHODS, type ServerResponse } from 'node:http'
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect, isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { getSystemErrorMap } from 'node:util'
import { getRequestListener, type ServerType } from '@hono/node-server'
import { issue, Refusal } from '../../core/error/error.ts'
import type { ListenAddress } from '../../core/settings/kind.ts'
import {
  readTls,
  type TlsFiles,
  type TlsWatch,
  watchTls,
} from '../../generator/registry/certificate.ts'
import { Connections } from './connections.ts'
import { endSilence, type FastPath, http1Exchange, http2Exchange } from './exchange.ts'
import { waitingStreams } from './waiting-streams.ts'

type Fetch = Parameters<typeof getRequestListener>[0]

export interface Listening {
  /** `http(s)://host:port` with the real port, and with TLS the host name; or `unix:/path`. */
  readonly url: string
  /** Starts answering with `quick`, then the app; requests that came before wait for the app. */
  answer(fetch: Fetch, quick?: FastPath | null): void
  /** Looks for renewed TLS files now; otherwise that is done every few seconds. */
  renewTls(): void
  tlsExpiry(): Date | null
  /** Stops accepting connections; resolves when all requests are answered or after `seconds`. */
  stop(seconds: number): Promise<void>
}

export type ListenOptions = ListenAddress &
  TlsWatch & {
    /** The maximum seconds for a request to arrive, and for an idle connection; default: 120. */
    readonly requestSeconds?: number
    /** For HTTPS and HTTP/2; Cargo uses only two HTTP/1.1 connections. Null: plain HTTP. */
    readonly tls: TlsFiles | null
    /** Answers paths that cannot wait for an app; null for others. Default: all paths wait. */
    readonly meanwhile?: (path: string) => Response | null
  }

/** A little longer than proxies keep connections (60 s), so that none closes during a request. */
const IDLE_MIN_MS = 65_000
const HEADERS_MS = 20_000
/** A proxy in the daemon's group may connect under any umask. */
const SOCKET_MODE = 0o660
/** The most requests that a connection of HTTP/2 may have answered at a time (RFC 9113 §5.1.2). */
const STREAMS_MAX = 100
const KNOWN_METHODS = new Set(METHODS)
/** The host of requests of HTTP/1.0 without one. */
const NO_HOST = 'localhost'
/** Added to the request timeout, so that the app can still answer that the request is too slow. */
const ANSWER_MARGIN_MS = 2000

/**
 * Listens before there is an app, because the base URL may depend on the port. Refuses an address
 * that is not available and TLS files that do not match. Never listens for `upgrade` events: Cargo
 * offers h2c on every plain request, and the listener would take over that request.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  let ready: (fetch: Fetch) => void = () => undefined
  let answering: Fetch | null = null
  let quickly: FastPath | null = null
  const later = new Promise<Fetch>(resolve => {
    ready = resolve
  })
  const fetch: Fetch = (request, env) => {
    if (answering) return answering(request, env)
    return (
      options.meanwhile?.(new URL(request.url).pathname) ?? later.then(app => app(request, env))
    )
  }
  const pair = options.tls && readTls(options.tls)
  const settings = { maxConcurrentStreams: STREAMS_MAX }
  const handshakeTimeout = Math.min(HEADERS_MS, silenceOf(options))
  const secure = pair && { allowHTTP1: true, settings, handshakeTimeout, ...pair }
  const server = secure ? createSecureServer(secure) : createServer()
  if (secure) {
    acceptOldClients(server)
    answerPlainHttp(server)
  }
  const connections = new Connections(server)
  await start(server, options)
  const isRenewable = options.tls && pair && 'setSecureContext' in server
  const watch = isRenewable ? watchTls(options.tls, server, pair, options) : null
  const app = getRequestListener(fetch, { hostname: NO_HOST })
  answerRequests(server, connections, app, () => quickly, silenceOf(options))
  return {
    url: urlOf(server, options),
    answer: (handler, quick = null) => {
      answering = handler
      quickly = quick
      ready(handler)
    },
    renewTls: () => watch?.renew(),
    tlsExpiry: () => watch?.expiry() ?? null,
    stop: seconds => {
      watch?.stop()
      return connections.stop(seconds)
    },
  }
}

async function start(server: ServerType, options: ListenOptions): Promise<void> {
  const requestTimeout = silenceOf(options)
  const headersTimeout = Math.min(HEADERS_MS, requestTimeout)
  // As properties, because the HTTP/2 server ignores them as options for its HTTP/1.1 side.
  // Another time limit between requests costs two timers for each of them.
  const keepAliveTimeout = requestTimeout < IDLE_MIN_MS ? IDLE_MIN_MS : 0
  // How often Node looks for late requests; its default lets a head take 30 s more.
  const connectionsCheckingInterval = headersTimeout / 4
  const times = { requestTimeout, headersTimeout, keepAliveTimeout, connectionsCheckingInterval }
  Object.assign(server, times)
  server.setTimeout(requestTimeout)
  if ('socket' in options) await removeStaleSocket(options.socket)
  const where =
    'socket' in options ? { path: options.socket } : { host: options.host, port: options.port }
  try {
    server.listen(where)
    await once(server, 'listening')
    if ('socket' in options) await chmod(options.socket, SOCKET_MODE)
  } catch (error) {
    const { errno = 0, message } = error as NodeJS.ErrnoException
    // Node's own message names the address again.
    const [, reason = message] = getSystemErrorMap().get(errno) ?? []
    const why = issue('address_taken', { address: addressText(options), reason })
    throw new Refusal([why], { cause: error })
  }
}

/** The protocols that a client may offer, ours first (RFC 7301 §6); any other gets an alert. */
const PROTOCOLS = ['h2', 'http/1.1', 'http/1.0']

/** Serves clients that offer `http/1.0`, which Node does not choose and would take for HTTP/2. */
function acceptOldClients(server: ServerType): void {
  const ALPNProtocols = Buffer.concat(
    PROTOCOLS.map(protocol => Buffer.concat([Buffer.of(protocol.length), Buffer.from(protocol)])),
  )
  // A property, because the HTTP/2 server replaces the option; it has the form of RFC 7301 §3.1.
  Object.assign(server, { ALPNProtocols })
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'http/1.0') socket.alpnProtocol = 'http/1.1'
  })
}

function silenceOf({ requestSeconds = 120 }: ListenOptions): number {
  return requestSeconds * 1000 + ANSWER_MARGIN_MS
}

/** Removes the socket of a killed process, on which connections are refused, and no other file. */
async function removeStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => null)
  if (!stats?.isSocket()) return
  const isStale = await new Promise<boolean>(resolve => {
    const client = connect(path, () => {
      client.destroy()
      resolve(false)
    })
    client.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
  if (isStale) await rm(path, { force: true })
}

function urlOf(server: ServerType, options: ListenOptions): string {
  if ('socket' in options) return addressText(options)
  const taken = server.address() as AddressInfo
  const host = options.tls && isIP(options.host) === 0 ? options.host : taken.address
  return `${options.tls ? 'https' : 'http'}://${addressText({ host, port: taken.port })}`
}

function addressText(address: ListenAddress): string {
  if ('socket' in address) return `unix:${address.socket}`
  const { host, port } = address
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

const READS = new Set(['GET', 'HEAD'])

function answerRequests(
  server: ServerType,
  connections: Connections,
  app: ReturnType<typeof getRequestListener>,
  quickly: () => FastPath | null,
  silenceMs: number,
): void {
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const quick = READS.has(incoming.method ?? '') ? quickly() : null
    const next = () => void app(incoming, outgoing)
    if (incoming.httpVersionMajor === 2) return next()
    if (!connections.answering(incoming.socket, outgoing)) return
    if (quick) quick(http1Exchange(incoming, outgoing), next)
    else next()
  })
  // Node's own listener creates a request for each HTTP/2 stream, which costs more than the file.
  const [makeRequest] = server.listeners('stream')
  const wait = waitingStreams()
  server.removeAllListeners('stream')
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest) => {
    // A client may cancel its stream or break the protocol at any time, also before an answer.
    stream.on('error', () => undefined)
    // Node's parser of HTTP/1.1 knows methods; over HTTP/2 any word may come, such as `__proto__`.
    if (!KNOWN_METHODS.has(headers[':method'] ?? '')) return refuseMethod(stream)
    const quick = READS.has(headers[':method'] ?? '') ? quickly() : null
    const next = () =>
      wait(stream, () => {
        endSilence(stream, silenceMs)
        makeRequest?.(stream, headers, ...rest)
        // An empty body may have ended while the request waited; tell its reader.
        if (stream.readableEnded) stream.emit('end')
      })
    if (quick) quick(http2Exchange(stream, headers, silenceMs), next)
    else next()
  })
}

/** Answers a word that is no method (RFC 9110 §9.1). */
function refuseMethod(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return
  stream.respond({ ':status': 501 }, { endStream: true })
  stream.close()
}

const PLAIN_TEXT = 'This port answers HTTPS only: write https:// instead of http:// in the URL.\n'
const PLAIN_ANSWER = `HTTP/1.1 400 Bad Request\r
Content-Type: text/plain; charset=utf-8\r
Content-Length: ${PLAIN_TEXT.length}\r
Connection: close\r
\r
${PLAIN_TEXT}`

/** What OpenSSL says of the methods that it knows, and of all other bytes that are not TLS. */
const NOT_TLS = /^ERR_SSL_(?:HTTPS?_(?:PROXY_)?REQUEST|WRONG_VERSION_NUMBER)$/

/** Has a server of TLS answer clients that speak plain HTTP in plain HTTP. */
function answerPlainHttp(server: Pick<ServerType, 'on'>): void {
  const open = new Map<string, Socket>()
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    open.set(name, socket)
    socket.once('close', () => open.delete(name))
  })
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // The connection below that of TLS, which Node closes after this event.
    if (NOT_TLS.test(error.code ?? '')) open.get(nameOf(socket))?.end(PLAIN_ANSWER)
  })
}
