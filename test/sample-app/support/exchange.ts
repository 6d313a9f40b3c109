import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'

/** A request as it goes on the wire: no header is added but `Host`, `Connection` and the length of the body. */
export interface WireRequest {
  readonly method?: string
  readonly path: string
  /** An array sends a header several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
  /** Trusted certificate, for `https:` addresses. */
  readonly ca?: Uint8Array
}

/** The answer. */
export interface WireResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends one request on a new connection and reads the whole answer. */
export function exchange(
  origin: string,
  { method = 'GET', path, headers, body, ca }: WireRequest,
): Promise<WireResponse> {
  const { hostname, port, protocol } = new URL(origin)
  const bytes = body === undefined ? undefined : Buffer.from(body)
  const length = method === 'POST' || bytes ? { 'Content-Length': String(bytes?.length ?? 0) } : {}
  const send = protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = send(
      {
        hostname,
        port,
        method,
        path,
        agent: false,
        headers: { ...headers, ...length },
        ...(ca && { ca: Buffer.from(ca) }),
      },
      response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(bytes)
  })
}
