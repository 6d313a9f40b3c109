import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'

/** Port 0 takes a free one. The files, in PEM, are for TLS. */
export type Place = { host: string; port: number; cert?: string; key?: string }

const [IDLE_MS, GRACE_MS] = [120_000, 10_000]
// A file may take any time to send: only silence is limited. A long query fits into 64 KiB.
const OPTIONS = { requestTimeout: 0, maxHeaderSize: 64 * 1024 }

/** Serves an app on Node. `close` lets running requests end, for ten seconds. */
export async function listen(app: Hono<{ Bindings: object }>, { host, port, cert, key }: Place) {
  const server = cert && key ? createServerWithTls(cert, key) : createServer(OPTIONS)
  const answer = async (request: Request, node: object) => {
    const response = await app.fetch(request, node)
    // The client decides, not a stream of Hono; but at the end, an idle connection would delay it.
    if (server.listening) response.headers.delete('Connection')
    else response.headers.set('Connection', 'close')
    return response
  }
  server.on('request', getRequestListener(answer, { hostname: host })).setTimeout(IDLE_MS)
  await once(server.listen(port, host), 'listening')
  const close = () => {
    setTimeout(() => server.closeAllConnections(), GRACE_MS).unref()
    return new Promise(resolve => server.close(resolve))
  }
  const { port: taken } = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  return { url: `${cert ? 'https' : 'http'}://${name}:${taken}`, close }
}

function createServerWithTls(cert: string, key: string) {
  try {
    const pem = { cert: readFileSync(cert), key: readFileSync(key) }
    // Node itself takes a key of another kind than the certificate's, and then no connection.
    const fits = new X509Certificate(pem.cert).checkPrivateKey(createPrivateKey(pem.key))
    if (!fits) throw new Error('key values mismatch')
    return createTlsServer({ ...OPTIONS, ...pem })
  } catch (error) {
    throw new Error(`cannot serve TLS with ${cert} and ${key}: ${Object(error).message}`)
  }
}
