import { createReadStream } from 'node:fs'
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http'
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
  /** Whether the answer is read as fast as somebody else takes it, such as a client. */
  readonly isStreamed: boolean
}

/** The most connections to one server; what comes meanwhile waits for one of them. */
const CONNECTIONS = 64

const options = { keepAlive: true, maxFreeSockets: CONNECTIONS, scheduling: 'lifo' } as const
const bounded = { ...options, maxSockets: CONNECTIONS }
const agents = { 'http:': new PlainAgent(bounded), 'https:': new TlsAgent(bounded) }
/**
 * Answers that others read have connections of their own: the slowest of them would hold up what
 * waits for one. How many there are is up to who has them read.
 */
const streaming = { 'http:': new PlainAgent(options), 'https:': new TlsAgent(options) }

/**
 * Sends a request and returns the head of the answer, whose body the caller reads or destroys.
 * Throws an error with a `code` when the connection fails or the server is silent for too long.
 */
export async function exchange(one: Exchange): Promise<IncomingMessage> {
  const { method, url, target, headers, body, silence, isStreamed } = one
  const isPlain = url.protocol === 'http:'
  const size = body instanceof Uint8Array ? body.byteLength : (body?.size ?? 0)
  const sending = (isPlain ? plainRequest : tlsRequest)({
    method,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (isPlain ? 80 : 443),
    path: target,
    headers: { ...headers, ...(body && { 'content-length': size }) },
    agent: (isStreamed ? streaming : agents)[isPlain ? 'http:' : 'https:'],
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve)
    sending.on('error', reject)
    destroyWhenSilent(sending, silence)
  })
  if (body === undefined || body instanceof Uint8Array) sending.end(body)
  // An answer before the end of the body, such as a refusal, closes the connection.
  else pipeline(createReadStream(body.file), sending).catch(error => sending.destroy(error))
  const answer = await answered
  answer.on('error', () => undefined)
  return answer
}

/**
 * Destroys a request whose server is silent for so long. Not while the reader of the answer leaves
 * bytes of it where they are: then it is we who do not let the server send.
 */
function destroyWhenSilent(sending: ClientRequest, silence: number): void {
  let answer: IncomingMessage | null = null
  sending.once('response', one => {
    answer = one
  })
  sending.once('socket', socket => {
    const look = () => {
      if (answer !== null && answer.readableLength > 0) socket.setTimeout(silence)
      else sending.destroy(silent())
    }
    // Not `sending.setTimeout`, which tells of the first time only.
    socket.setTimeout(silence).on('timeout', look)
    sending.once('close', () => socket.off('timeout', look))
  })
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
