import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Fetch } from './gallery.ts'
import type { TlsFiles } from './tls-files.ts'

/** Where to listen; port 0 takes a free one. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly tls?: TlsFiles
}

/** A server that is listening. */
export interface Running {
  readonly url: string
  /** Takes no new connections and lets running requests finish; what still runs after ten seconds is cut off. */
  close(): Promise<void>
  /** Cuts all connections off. */
  cut(): void
}

const IDLE_MS = 120_000
const GRACE_MS = 10_000
/** The most bytes of a request's target and headers: 64 KiB, so that a long query meets the limits it was declared with. */
const HEAD_BYTES = 64 * 1024

/**
 * Serves an application.
 * @throws what listening failed with, such as EADDRINUSE
 */
export async function listen(fetch: Fetch, { host, port, tls }: ListenOptions): Promise<Running> {
  const listener = getRequestListener((request, env) => fetch(request, env as Parameters<Fetch>[1]), { hostname: host })
  // A file of any size may take any time to send, so there is no limit for a whole request, only one for silence.
  const options = { requestTimeout: 0, maxHeaderSize: HEAD_BYTES }
  const server: Server = tls ? createTlsServer({ ...options, ...tls }) : createServer(options)
  server.setTimeout(IDLE_MS)
  server.on('request', (incoming, outgoing) => {
    // The adapter refuses a raw backslash in a path; here it is a character like any other.
    incoming.url = incoming.url?.replaceAll('\\', '%5C')
    // HTTP/1.0 need not name a host, and any client may name an empty one: it means the one it has reached.
    incoming.headers.host ||= reached(incoming.socket)
    void listener(incoming, outgoing)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://${authority(host, taken)}`,
    close: () => shutDown(server),
    cut: () => server.closeAllConnections(),
  }
}

function reached({ localAddress = '', localPort = 0 }: Socket): string {
  return authority(localAddress, localPort)
}

function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    server.close(error => {
      clearTimeout(cut)
      if (error) reject(error)
      else resolve()
    })
  })
}
