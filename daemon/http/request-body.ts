import { Readable } from 'node:stream'
import type { Context, MiddlewareHandler } from 'hono'
import { issue, Refusal, refuse } from '../../generator/index.ts'

type BodyReader = AsyncIterator<Uint8Array>

/** Node's streams of bodies: a stream of the `Request` would cost more than most bodies. */
const incoming = new WeakMap<Request, Readable>()

/** The readers of bodies that handlers have started to read, and may not have finished. */
const begun = new WeakMap<Request, BodyReader>()

/** When a body must have arrived, in milliseconds of `performance.now()`. */
interface Deadline {
  readonly at: number
  readonly seconds: number
}

const deadlines = new WeakMap<Request, Deadline>()

/**
 * Yields the body of a request in chunks; `readToEnd` reads the rest. Applies its time limit too
 * (`body_slow`), because Node has none for requests over HTTP/2.
 */
export async function* bodyOf(request: Request): AsyncIterable<Uint8Array> {
  const reader = begin(request)
  if (!reader) return
  const deadline = deadlines.get(request)
  for (;;) {
    const next = await nextChunk(reader, deadline)
    if (next.done) return
    yield next.value
  }
}

/** Returns the whole body, or null if longer than `most` bytes. `seconds`: as for `readToEnd`. */
export async function readWhole(
  request: Request,
  most: number,
  seconds?: number,
): Promise<Buffer | null> {
  if (seconds !== undefined) setDeadline(request, seconds)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bodyOf(request)) {
    size += chunk.byteLength
    if (size > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function setDeadline(request: Request, seconds: number): Deadline {
  const deadline = { at: performance.now() + seconds * 1000, seconds }
  deadlines.set(request, deadline)
  return deadline
}

/**
 * Reads, within bounds, what a handler left of a body before the answer is sent. Many clients send
 * the whole body before they read: to them an early answer is a broken pipe without a message.
 */
export function readToEnd(bounds: {
  readonly bytes: number
  readonly seconds: number
}): MiddlewareHandler {
  return async (c, next) => {
    const { raw } = c.req
    const stream = (c.env as { incoming?: unknown } | undefined)?.incoming
    if (stream instanceof Readable) incoming.set(raw, stream)
    const deadline = setDeadline(raw, bounds.seconds)
    await next()
    const reader = begun.get(raw) ?? begin(raw)
    if (reader) await skip(reader, bounds.bytes, deadline)
  }
}

function begin(request: Request): BodyReader | null {
  // It must outlive its reader: what a handler leaves is read before the answer is sent.
  const stream = incoming.get(request)?.iterator({ destroyOnReturn: false }) ?? request.body
  if (stream === null) return null
  const reader = stream[Symbol.asyncIterator]()
  begun.set(request, reader)
  return reader
}

async function skip(reader: BodyReader, most: number, deadline: Deadline): Promise<void> {
  try {
    for (let bytes = 0; bytes < most; ) {
      const next = await nextChunk(reader, deadline)
      if (next.done) return
      bytes += next.value.byteLength
    }
  } catch (error) {
    // The client is gone, or should not wait any longer: send the answer as it is.
    if (!(error instanceof Refusal)) throw error
  }
}

/** Reads a chunk. Refuses a broken stream: the client disconnected, which is no server error. */
async function nextChunk(reader: BodyReader, deadline: Deadline | undefined) {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>(resolve => {
    if (deadline) timer = setTimeout(resolve, Math.max(0, deadline.at - performance.now()), 'late')
  })
  try {
    const next = await Promise.race([reader.next(), late])
    if (next !== 'late') return next
  } catch (error) {
    throw new Refusal([issue('body_lost')], { cause: error })
  } finally {
    clearTimeout(timer)
  }
  return refuse('body_slow', { seconds: deadline?.seconds ?? 0 })
}

const HERE = 'http://here.invalid'

/** More than any form of this registry needs. */
const MOST_BYTES = 64 * 1024

/** Returns the fields of a posted form. Refuses other content types and overlong bodies. */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const type = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') refuse('form_invalid')
  const body = (await readWhole(c.req.raw, MOST_BYTES)) ?? refuse('form_invalid')
  return new URLSearchParams(body.toString('utf8'))
}

/** Returns the login in a form, trimmed: blanks around it are typing errors. */
export function loginOf(form: URLSearchParams): string {
  return form.get('login')?.trim() ?? ''
}

/**
 * Returns whether a request comes from a page of this host: by `Sec-Fetch-Site`, or over plain HTTP
 * by `Origin`. Returns true if both are missing; the form token is checked in any case.
 */
export function isFromHere(c: Context, base: string): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = c.req.header('origin')
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return origin === new URL(base).origin || host === c.req.header('host')
}

/**
 * Returns the path on this server to redirect to, or null if it leads elsewhere. Parses as browsers
 * do: `\` is `/`, tabs and line breaks are ignored, `/.//host` becomes `//host`.
 */
export function ownPath(text: string | null | undefined): string | null {
  if (!text?.startsWith('/') || text.length > 2000 || !URL.canParse(text, HERE)) return null
  const url = new URL(text, HERE)
  return url.origin === HERE && !url.pathname.startsWith('//') ? url.pathname + url.search : null
}
