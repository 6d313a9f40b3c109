import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ServerType } from '@hono/node-server'

const TEXT = 'This port answers HTTPS only: write https:// instead of http:// in the URL.\n'
const ANSWER = `HTTP/1.1 400 Bad Request\r
Content-Type: text/plain; charset=utf-8\r
Content-Length: ${TEXT.length}\r
Connection: close\r
\r
${TEXT}`

/** Has a server of TLS answer clients that speak plain HTTP in plain HTTP. */
export function answerPlainHttp(server: Pick<ServerType, 'on'>): void {
  const open = new Map<string, Socket>()
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    open.set(name, socket)
    socket.once('close', () => open.delete(name))
  })
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // The connection below that of TLS, which Node closes after this event.
    if (error.code === 'ERR_SSL_HTTP_REQUEST') open.get(nameOf(socket))?.end(ANSWER)
  })
}
