import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { issue, Refusal, refuse } from '../../../generator/index.ts'

export interface BodyLimits {
  /** The largest body, packed as well as unpacked. */
  readonly maxBodyBytes: number
  /** The longest it may take to arrive. */
  readonly bodyTimeoutMs: number
}

/** The request body, unpacked. */
export async function readBody(request: Request, limits: BodyLimits): Promise<Buffer> {
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding)) refuse('git_request_encoding')
  const { body } = request
  if (!body) return Buffer.alloc(0)
  const chunks: Buffer[] = []
  const atMost = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0
    for await (const chunk of source) {
      size += chunk.length
      if (size > limits.maxBodyBytes) refuse('git_request_too_large', { max: limits.maxBodyBytes })
      yield chunk
    }
  }
  const collect = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of source) chunks.push(Buffer.from(chunk))
  }
  const late = AbortSignal.timeout(limits.bodyTimeoutMs)
  const options = { signal: AbortSignal.any([late, request.signal]) }
  const source = Readable.fromWeb(body)
  try {
    if (encoding === 'identity') await pipeline(source, atMost, collect, options)
    else await pipeline(source, atMost, createGunzip(), atMost, collect, options)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal([issue(late.aborted ? 'git_request_slow' : 'git_request_encoding')], {
      cause: error,
    })
  }
  return Buffer.concat(chunks)
}
