import { createReadStream } from 'node:fs'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'

/** What is sent: bytes, or a part of a file that is read once more for every attempt. */
export type Body = Uint8Array | { readonly file: string; readonly size: number }

/** A request that is signed. */
export interface Exchange {
  readonly method: string
  readonly url: URL
  /** The path and query as they were signed. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Body | undefined
  /** How long the server may be silent, in milliseconds. */
  readonly silence: number
}

/** The most connections to one server; what comes meanwhile waits for one of them. */
const CONNECTIONS = 64

const options = { keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'lifo' } as const
const agents = { 'http:': new PlainAgent(options), 'https:': new TlsAgent(options) }

/**
 * Sends a request and returns the head of the answer, whose body the caller reads or destroys.
 * Throws an error with a `code` when the connection fails or the server is silent for too long.
 */
export async function exchange(one: Exchange): Promise<IncomingMessage> {
  const { method, url, target, headers, body, silence } = one
  const isPlain = url.protocol === 'http:'
  const size = body instanceof Uint8Array ? body.byteLength : (body?.size ?? 0)
  const sending = (isPlain ? plainRequest : tlsRequest)({
    method,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (isPlain ? 80 : 443),
    path: target,
    headers: { ...headers, ...(body && { 'content-length': size }) },
    agent: agents[isPlain ? 'http:' : 'https:'],
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve)
    sending.on('error', reject)
    sending.setTimeout(silence, () => sending.destroy(silent()))
  })
  if (body === undefined || body instanceof Uint8Array) sending.end(body)
  // An answer before the end of the body, such as a refusal, closes the connection.
  else pipeline(createReadStream(body.file), sending).catch(error => sending.destroy(error))
  const answer = await answered
  // The time limit of the request also holds while the body is read.
  answer.on('error', () => undefined)
  return answer
}

function silent(): Error {
  return Object.assign(new Error('the server is silent'), { code: 'ETIMEDOUT' })
}

/** Reads an answer of at most `max` bytes; throws an error for a longer or a broken one. */
export async function readBody(answer: IncomingMessage, max: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.byteLength
    if (size > max) {
      answer.destroy()
      throw new Error(`an answer of the object storage is longer than ${max} bytes`)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}
