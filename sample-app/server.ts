import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { getRequestListener } from '@hono/node-server'

type Nodes = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }
type Fetch = (request: Request, env: Nodes) => Response | Promise<Response>

const [IDLE_MS, GRACE_MS] = [120_000, 10_000]
/** The most bytes of a target and headers: so a long query meets the limits it was declared with. */
const HEAD_BYTES = 64 * 1024

/**
 * Serves an app; port 0 takes a free one. `close` takes no new connections and lets running
 * requests finish, for ten seconds at most.
 * @throws what listening failed with, such as EADDRINUSE
 */
export async function listen(fetch: Fetch, host: string, port: number, tls?: ServerOptions) {
  const listener = getRequestListener((request, env) => fetch(request, env as Nodes), {
    hostname: host,
  })
  // A file of any size may take any time to send: no limit for a request, only for silence.
  const options = { requestTimeout: 0, maxHeaderSize: HEAD_BYTES }
  const server = tls ? createTlsServer({ ...options, ...tls }) : createServer(options)
  const answering = new Set<ServerResponse>()
  let isStopping = false
  server.setTimeout(IDLE_MS)
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    answering.add(outgoing)
    outgoing.once('close', () => answering.delete(outgoing))
    if (isStopping) makeLast(outgoing)
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
    answering.forEach(makeLast)
    const late = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    return new Promise<void>(resolve => server.close(() => resolve(clearTimeout(late))))
  }
  const { port: taken } = server.address() as AddressInfo
  return { url: `${tls ? 'https' : 'http'}://${authority(host, taken)}`, close }
}

/** Makes an answer the last of its connection: an idle one would delay the end. */
function makeLast(outgoing: ServerResponse): void {
  if (outgoing.headersSent) outgoing.once('finish', () => outgoing.socket?.end())
  else outgoing.setHeader('Connection', 'close')
}

function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Files that TLS cannot be served with; the message says which and why. */
export class TlsFilesError extends Error {}

/**
 * Reads and checks a certificate (with its chain) and its private key, both PEM, before anything
 * listens: Node itself fails at the first connection only.
 * @throws TlsFilesError
 */
export function readTlsFiles(certPath: string, keyPath: string) {
  const cert = attempt(`cannot read the certificate file ${certPath}`, () => readFileSync(certPath))
  const key = attempt(`cannot read the key file ${keyPath}`, () => readFileSync(keyPath))
  const parsed = attempt(`${certPath} holds no PEM certificate`, () => new X509Certificate(cert))
  const noKey = `${keyPath} holds no PEM private key without a passphrase`
  const isPair = parsed.checkPrivateKey(attempt(noKey, () => createPrivateKey(key)))
  const other = `the key in ${keyPath} does not belong to the certificate in ${certPath}`
  if (!isPair) throw new TlsFilesError(other)
  attempt(`cannot use ${certPath} and ${keyPath}`, () => createSecureContext({ cert, key }))
  return { cert, key }
}

function attempt<T>(complaint: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new TlsFilesError(`${complaint}: ${error instanceof Error ? error.message : error}`)
  }
}
