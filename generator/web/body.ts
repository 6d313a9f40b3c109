import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { connectionFailure, WebFailure } from './failure.ts'

/** A body that brings fewer bytes than these is as slow as one that brings none. */
const HEARD_BYTES = 16 * 1024

/** Time limits of a request. Call `heard` when the server has sent some, and `end` at its end. */
export interface TimeLimits {
  readonly signal: AbortSignal
  readonly heard: () => void
  readonly end: () => void
}

/** Begins to count: `signal` aborts after the given milliseconds of silence, or in all. */
export function timeLimits(silenceMs: number, totalMs?: number): TimeLimits {
  const controller = new AbortController()
  const abort = (why: string) => () => controller.abort(why)
  const silence = setTimeout(abort('the server does not respond'), silenceMs)
  const total = totalMs === undefined ? undefined : setTimeout(abort('it takes too long'), totalMs)
  const end = () => {
    clearTimeout(silence)
    clearTimeout(total)
  }
  return { signal: controller.signal, heard: () => silence.refresh(), end }
}

/** Yields the bytes of a body as they come. */
export async function* bodyBytes(
  url: URL,
  { body }: Dispatcher.ResponseData,
  limits: TimeLimits,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const part of body) {
      bytes += part.length
      if (bytes >= HEARD_BYTES) {
        limits.heard()
        bytes = 0
      }
      yield part
    }
  } catch (error) {
    throw connectionFailure(url, error, limits.signal)
  }
}

/** Yields what bytes mean in the encoding of an answer, which may only be gzip. */
export async function* decodedBytes(
  url: URL,
  { headers }: Dispatcher.ResponseData,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding === 'identity') return yield* bytes
  if (encoding !== 'gzip') throw new WebFailure(url.href, `it is encoded as ${encoding}`)
  try {
    // `pipeline` passes the errors of either on to the reader of the other.
    yield* pipeline(bytes, createGunzip(), () => undefined)
  } catch (error) {
    if (error instanceof WebFailure) throw error
    throw new WebFailure(url.href, 'it is not the gzip that it says it is', { cause: error })
  }
}
