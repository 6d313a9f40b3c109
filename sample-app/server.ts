import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'

type Nodes = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }
type Fetch = (request: Request, env: Nodes) => Response | Promise<Response>
type Place = { readonly host: string; readonly port: number }

const [IDLE_MS, GRACE_MS] = [120_000, 10_000]
// A file of any size may take any time to send: no limit for a request, only for silence. Target
// and headers may have 64 KiB, so that a long query meets the limits it was declared with.
const OPTIONS = { requestTimeout: 0, maxHeaderSize: 64 * 1024 }

/**
 * Serves an app; port 0 takes a free one. `close` takes no new connections and lets running
 * requests finish, for ten seconds at most.
 * @throws what listening failed with, such as EADDRINUSE
 */
export async function listen(fetch: Fetch, { host, port }: Place, tls?: ServerOptions) {
  let isStopping = false
  const listener = getRequestListener(
    async (request, env) => {
      const response = await fetch(request, env as Nodes)
      // The last answer of its connection: an idle one would delay the end.
      if (isStopping) response.headers.set('Connection', 'close')
      return response
    },
    { hostname: host },
  )
  const server = tls ? createTlsServer({ ...OPTIONS, ...tls }) : createServer(OPTIONS)
  server.setTimeout(IDLE_MS)
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // The adapter refuses a raw backslash in a path; here it is a character like any other.
    incoming.url = incoming.url?.replaceAll('\\', '%5C')
    // HTTP/1.0 need not name a host, and any client may name an empty one: it means this server.
    const { localAddress = '', localPort = 0 } = incoming.socket
    incoming.headers.host ||= authority(localAddress, localPort)
    void listener(incoming, outgoing)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const close = () => {
    isStopping = true
    // For an answer whose headers are out already.
    server.keepAliveTimeout = 1
    const late = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    return new Promise<void>(resolve => server.close(() => resolve(clearTimeout(late))))
  }
  const { port: taken } = server.address() as AddressInfo
  return { url: `${tls ? 'https' : 'http'}://${authority(host, taken)}`, close }
}

function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
