import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import { issue, Refusal } from '../generator/index.ts'
import { readTls, type TlsFiles, watchTls } from './tls.ts'

type Fetch = Parameters<typeof serve>[0]['fetch']

/** A server that accepts connections. */
export interface Listening {
  /** `http://host:port`, or `https://…`, with the port really taken. */
  readonly url: string
  /** Starts answering with an app; requests that came before wait for it. */
  answer(fetch: Fetch): void
  /** Takes no more connections; resolves when running requests are answered, at the latest after `seconds`. */
  stop(seconds: number): Promise<void>
}

/** Where to listen, and how. */
export interface ListenOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** With it: https, and HTTP/2 for whoever offers it, because Cargo keeps only two HTTP/1.1 connections. */
  readonly tls: TlsFiles | null
  /** Told when renewed TLS files cannot be used. */
  readonly onTlsFailure: (refusal: Refusal) => void
  /** How often TLS files are looked at for a renewal, in milliseconds; default: 5000. */
  readonly renewalCheck?: number
}

/**
 * Takes an address, before there is anything to answer with: the base URL may depend on the port. Refuses an address
 * that cannot be had and TLS files that do not fit. Never listens for upgrades: Cargo offers h2c on every plain request
 * and an `upgrade` listener would swallow it.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  let ready: (fetch: Fetch) => void = () => undefined
  const app = new Promise<Fetch>(resolve => {
    ready = resolve
  })
  const fetch: Fetch = async (request, env) => (await app)(request, env)
  const secure = options.tls && { allowHTTP1: true, ...readTls(options.tls) }
  const server = await start(options, fetch, secure)
  const stopWatching =
    options.tls && 'setSecureContext' in server ? watchTls(options.tls, server, options) : () => undefined
  const sessions = secure ? trackSessions(server as Http2SecureServer) : new Set<ServerHttp2Session>()
  const taken = server.address() as AddressInfo
  const shown = taken.family === 'IPv6' ? `[${taken.address}]` : taken.address
  return {
    url: `${secure ? 'https' : 'http'}://${shown}:${taken.port}`,
    answer: ready,
    stop: seconds => {
      stopWatching()
      return stop(server, sessions, seconds)
    },
  }
}

function start(options: ListenOptions, fetch: Fetch, secure: object | null): Promise<ServerType> {
  const { host, port } = options
  return new Promise((resolve, reject) => {
    const transport = secure ? { createServer: createSecureServer, serverOptions: secure } : {}
    const starting = serve({ fetch, hostname: host, port, ...transport }, () => resolve(starting))
    starting.once('error', error => {
      const why = issue('address_taken', { address: `${host}:${port}`, reason: error.message })
      reject(new Refusal([why], { cause: error }))
    })
  })
}

/** HTTP/2 keeps its connection open between requests; the server itself does not know how to end that. */
function trackSessions(server: Http2SecureServer): Set<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', session => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  return sessions
}

async function stop(server: ServerType, sessions: Set<ServerHttp2Session>, seconds: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  if ('closeIdleConnections' in server) server.closeIdleConnections()
  for (const session of sessions) session.close()
  const patience = setTimeout(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    for (const session of sessions) session.destroy()
  }, seconds * 1000)
  await closed
  clearTimeout(patience)
}
