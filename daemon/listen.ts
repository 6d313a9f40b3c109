import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { issue, Refusal } from '../generator/index.ts'

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch']

/** A server that accepts connections. */
export interface Listening {
  /** `http://host:port` with the port really taken. */
  readonly url: string
  /** Starts answering with an app; requests that came before wait for it. */
  answer(fetch: Fetch): void
  /** Takes no more connections; resolves when running requests are answered, at the latest after `seconds`. */
  stop(seconds: number): Promise<void>
}

/** A connection is kept a little longer than proxies keep theirs (60 s), so that none is closed under a request. */
const KEEP_ALIVE_MS = 65_000
const HEADERS_MS = 20_000

/**
 * Takes an address (port 0: a free one), before there is anything to answer with: the base URL may
 * depend on the port. Refuses an address that cannot be had. Never listens for upgrades: Cargo offers h2c on every
 * plain request and an `upgrade` listener would swallow it. A request has to arrive within `requestSeconds`, and a
 * connection on which nothing moves for as long is closed.
 */
export async function listen(host: string, port: number, requestSeconds = 120): Promise<Listening> {
  let ready: (fetch: Fetch) => void = () => undefined
  let answering: Fetch | null = null
  const app = new Promise<Fetch>(resolve => {
    ready = resolve
  })
  const fetch: Fetch = (request, env) => (answering ? answering(request, env) : app.then(later => later(request, env)))
  const requestTimeout = requestSeconds * 1000
  const headersTimeout = Math.min(HEADERS_MS, requestTimeout)
  const serverOptions = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout, headersTimeout }
  const server = createAdaptorServer({ fetch, hostname: host, serverOptions }) as Server
  server.setTimeout(requestTimeout)
  await take(server, host, port)
  const taken = server.address() as AddressInfo
  return {
    url: `http://${authority(taken.address, taken.port)}`,
    answer: given => {
      answering = given
      ready(given)
    },
    stop: seconds => stop(server, seconds),
  }
}

function take(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      const address = authority(host, port)
      reject(new Refusal([issue('address_taken', { address, reason: error.message })], { cause: error }))
    }
    server.once('error', failed)
    server.listen(port, host, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

/** Connections that come to rest are closed as they do: kept ones would keep the daemon. */
async function stop(server: Server, seconds: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const patience = setTimeout(() => server.closeAllConnections(), seconds * 1000)
  server.closeIdleConnections()
  await closed
  clearInterval(sweep)
  clearTimeout(patience)
}

function authority(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
