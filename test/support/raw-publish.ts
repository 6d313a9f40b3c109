import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { encodePublish, plainMetadata } from './release.ts'

/** A server's address, and its authority's certificate if no public one signed it. */
export interface Origin {
  readonly baseUrl: string
  readonly ca?: string
}

/** An answer of the web API. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

/**
 * One request as written: the path goes over the wire untouched, which `fetch` would not promise.
 */
export async function send(
  method: string,
  origin: string | Origin,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body?: Buffer,
): Promise<Answer> {
  const { baseUrl, ca } = typeof origin === 'string' ? { baseUrl: origin, ca: undefined } : origin
  const { protocol, hostname, port } = new URL(baseUrl)
  const request = protocol === 'https:' ? requestSecure : requestPlain
  const outgoing = request({ hostname, port, method, path, agent: false, headers, ca })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, headers: answer.headers, bytes: await buffer(answer) }
}

/** The given metadata of a publish; the rest is Cargo's for an empty crate. */
export interface PublishInfo {
  readonly name: string
  readonly vers: string
  readonly deps?: readonly unknown[]
}

/** The publish request without a client before it that would refuse to send it. */
export function putRelease(
  origin: string | Origin,
  token: string,
  info: PublishInfo,
  crate: Uint8Array,
): Promise<Answer> {
  const description = `The crate ${info.name}`
  const metadata = { ...plainMetadata(info.name, info.vers), description, ...info }
  const body = Buffer.from(encodePublish(metadata, crate))
  return send(
    'PUT',
    origin,
    '/api/v1/crates/new',
    { authorization: token, 'content-length': `${body.length}` },
    body,
  )
}

/** The API's objections in an answer, joined as Cargo joins them; null for a success. */
export function refusal(answer: Answer): string | null {
  const { errors } = JSON.parse(answer.bytes.toString()) as { errors?: { detail: string }[] }
  return errors === undefined ? null : errors.map(error => error.detail).join(', ')
}
