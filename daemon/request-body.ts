import type { MiddlewareHandler } from 'hono'
import { issue, Refusal } from '../generator/index.ts'

type BodyReader = ReadableStreamDefaultReader<Uint8Array>

/** The readers of bodies that a handler has begun and may not have ended. */
const begun = new WeakMap<Request, BodyReader>()

/** The body of a request in chunks as they arrive. Whoever stops early leaves the rest to `readToEnd`. */
export async function* bodyOf(request: Request): AsyncIterable<Uint8Array> {
  const reader = begin(request)
  if (!reader) return
  for (;;) {
    const next = await nextChunk(reader)
    if (next.done) return
    yield next.value
  }
}

/** A whole body of at most `most` bytes; null for a longer one, whose rest is left to `readToEnd`. */
export async function readWhole(request: Request, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bodyOf(request)) {
    size += chunk.byteLength
    if (size > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Reads what a handler has left of a body before the answer goes out, within bounds. Clients send first and listen
 * afterwards: an answer to half a body, and a connection closed upon it, is a broken pipe to them and no message.
 */
export function readToEnd(bounds: { readonly bytes: number; readonly seconds: number }): MiddlewareHandler {
  return async (c, next) => {
    await next()
    const reader = begun.get(c.req.raw) ?? (c.req.raw.bodyUsed ? null : begin(c.req.raw))
    if (reader) await skip(reader, bounds)
  }
}

function begin(request: Request): BodyReader | null {
  if (request.body === null || request.body.locked) return null
  const reader = request.body.getReader()
  begun.set(request, reader)
  return reader
}

async function skip(reader: BodyReader, bounds: { readonly bytes: number; readonly seconds: number }): Promise<void> {
  let timeout: NodeJS.Timeout | undefined
  const late = new Promise<'late'>(resolve => {
    timeout = setTimeout(resolve, bounds.seconds * 1000, 'late')
  })
  try {
    for (let bytes = 0; bytes < bounds.bytes; ) {
      const next = await Promise.race([nextChunk(reader), late])
      if (next === 'late' || next.done) return
      bytes += next.value.byteLength
    }
  } catch (error) {
    // Nobody is left to read the answer; whatever it is, it stands.
    if (!(error instanceof Refusal)) throw error
  } finally {
    clearTimeout(timeout)
  }
}

/** A stream that breaks is a client that went away, which is no failure of ours. */
async function nextChunk(reader: BodyReader) {
  try {
    return await reader.read()
  } catch (error) {
    throw new Refusal([issue('body_lost')], { cause: error })
  }
}
