import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { connectionFailure, WebFailure } from './failure.ts'

/** The limits of time of a request. */
export class TimeLimits {
  readonly #controller = new AbortController()
  readonly #silence: NodeJS.Timeout
  readonly #total: NodeJS.Timeout | undefined

  /** Aborts after the given milliseconds of silence, or in all. */
  constructor(silenceMs: number, totalMs?: number) {
    const abort = (why: string) => () => this.#controller.abort(why)
    this.#silence = setTimeout(abort('the server does not respond'), silenceMs)
    if (totalMs !== undefined) this.#total = setTimeout(abort('it takes too long'), totalMs)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Notes that the server has sent something. */
  heard(): void {
    this.#silence.refresh()
  }

  end(): void {
    clearTimeout(this.#silence)
    clearTimeout(this.#total)
  }
}

/** Yields the bytes of a body as they come. */
export async function* bodyBytes(
  url: URL,
  { body }: Dispatcher.ResponseData,
  limits: TimeLimits,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of body) {
      limits.heard()
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

/** Returns all bytes; null when there are more than `max`. */
export async function collectBytes(
  bytes: AsyncIterable<Uint8Array>,
  max: number,
): Promise<Buffer | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of bytes) {
    size += part.length
    if (size > max) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}
