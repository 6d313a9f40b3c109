import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { send } from '../../support/raw-publish.ts'

/** A request as it goes on the wire: no header is added but `Host`, `Connection` and the length of the body. */
export interface WireRequest {
  readonly method?: string
  readonly path: string
  /** An array sends a header several times. */
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** Trusted certificate, for `https:` addresses. */
  readonly ca?: string
}

/** The answer. */
export interface WireResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends one request on a new connection and reads the whole answer. */
export async function exchange(
  origin: string,
  { method = 'GET', path, headers, body, ca }: WireRequest,
): Promise<WireResponse> {
  const bytes = body === undefined ? undefined : Buffer.from(body)
  const length = method === 'POST' || bytes ? { 'Content-Length': String(bytes?.length ?? 0) } : {}
  const to = { baseUrl: origin, ...(ca !== undefined && { ca }) }
  const answer = await send(method, to, path, { ...headers, ...length }, bytes)
  return { status: answer.status, headers: answer.headers, text: answer.bytes.toString() }
}
