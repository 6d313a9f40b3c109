import { Readable } from 'node:stream'
import type { Context, MiddlewareHandler } from 'hono'
import * as v from 'valibot'
import { issue, Refusal, refusalOnly, refuse } from '../../core/error/error.ts'

/** A body: how far it was read, and by when it has to be there: one timer, however many chunks. */
class Body {
  readonly #chunks: AsyncIterator<Uint8Array> | undefined
  #late: Refusal | null = null
  #refuse: (late: Refusal) => void = () => undefined

  /** Node's stream of a body, if there is one, costs less than that of the `Request`. */
  constructor(request: Request, stream?: unknown) {
    // It must outlive its reader: the unread rest is read before the answer is sent.
    const chunks =
      stream instanceof Readable ? stream.iterator({ destroyOnReturn: false }) : request.body
    this.#chunks = chunks?.[Symbol.asyncIterator]()
    bodies.set(request, this)
  }

  /** Refuses a body after `seconds`, or when `sooner` aborts. The result lifts the limit. */
  limit(seconds: number, sooner?: AbortSignal): () => void {
    const end = () => {
      this.#late = new Refusal([issue('body_slow', { seconds })])
      this.#refuse(this.#late)
    }
    const timer = setTimeout(end, seconds * 1000)
    sooner?.addEventListener('abort', end, { once: true })
    return () => clearTimeout(timer)
  }

  /** Returns the next chunk, or null. A client that disconnects is no error of the server. */
  async next(): Promise<Uint8Array | null> {
    // Nobody would be there to hear that the client has left.
    if (this.#late) throw this.#late
    const next = this.#chunks?.next()
    if (!next) return null
    try {
      const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        this.#refuse = reject
        next.then(resolve, reject)
      })
      return done ? null : value
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal([issue('body_lost')], { cause: error })
    }
  }
}

const bodies = new WeakMap<Request, Body>()

/** Yields a body in chunks; `readToEnd` reads the rest, and sets the limit that HTTP/2 lacks. */
export async function* bodyOf(request: Request): AsyncIterable<Uint8Array> {
  const body = bodies.get(request) ?? new Body(request)
  for (let chunk = await body.next(); chunk; chunk = await body.next()) yield chunk
}

/** Returns the whole body, or null if longer than `most` bytes. The limits are those of `Body`. */
export async function readWhole(
  request: Request,
  most: number,
  seconds?: number,
  sooner?: AbortSignal,
): Promise<Buffer | null> {
  const body = bodies.get(request) ?? new Body(request)
  const arrived = seconds === undefined ? undefined : body.limit(seconds, sooner)
  const bytes = new ByteCollector()
  try {
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      bytes.add(chunk)
      if (bytes.size > most) return null
    }
  } finally {
    arrived?.()
  }
  return bytes.take()
}

/**
 * Reads, within bounds, the unread rest of a body before the answer is sent. Many clients send the
 * whole body before they read: an early answer would be a broken pipe to them, without a message.
 */
export function readToEnd(bounds: {
  readonly bytes: number
  readonly seconds: number
}): MiddlewareHandler {
  return async (c, next) => {
    const body = new Body(c.req.raw, (c.env as { incoming?: unknown } | undefined)?.incoming)
    const arrived = body.limit(bounds.seconds)
    try {
      await next()
      for (let bytes = 0; bytes < bounds.bytes; ) {
        // If the client is gone, or too slow, the answer is sent as it is.
        const chunk = await body.next().catch(refusalOnly)
        if (chunk === null || chunk instanceof Refusal) return
        bytes += chunk.byteLength
      }
    } finally {
      arrived()
    }
  }
}

const HERE = 'http://here.invalid'

/** More than any form of this registry needs. */
const MOST_BYTES = 64 * 1024

/**
 * Returns the JSON of a body that has this shape; unknown members are dropped. Refuses it by the
 * statuses of crates.io: another type, no JSON, another shape.
 */
export async function readJsonBody<Shape extends v.GenericSchema>(
  c: Context,
  shape: Shape,
): Promise<v.InferOutput<Shape>> {
  const type = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) refuse('content_type_json')
  const body = await readWhole(c.req.raw, MOST_BYTES)
  if (!body) return refuse('body_invalid', { reason: `it has more than ${MOST_BYTES} bytes` })
  const result = v.safeParse(shape, parsed(body.toString('utf8')))
  if (result.success) return result.output
  const [{ message, path = [] }] = result.issues
  const at = path.map(({ key }) => String(key)).join('.')
  return refuse('json_shape', { reason: at === '' ? message : `${at}: ${message}` })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return refuse('body_invalid', { reason: error.message })
    throw error
  }
}

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

/** Returns whether another site linked here: then browsers send no `SameSite=Strict` cookie. */
export function isLinked(c: Context): boolean {
  return ['cross-site', 'same-site'].includes(c.req.header('sec-fetch-site') ?? '')
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

const LEAST = 1024

/** Collects chunks in one buffer: to keep a chunk of one byte by itself takes hundreds of bytes. */
export class ByteCollector {
  #memory: Uint8Array = new Uint8Array(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  add(chunk: Uint8Array): void {
    const size = this.#size + chunk.byteLength
    if (this.#size === 0) this.#memory = chunk
    else {
      if (size > this.#memory.byteLength) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * size, LEAST))
        larger.set(this.#memory.subarray(0, this.#size))
        this.#memory = larger
      }
      this.#memory.set(chunk, this.#size)
    }
    this.#size = size
  }

  take(): Buffer {
    const { buffer, byteOffset } = this.#memory
    const bytes = Buffer.from(buffer, byteOffset, this.#size)
    this.#memory = new Uint8Array(0)
    this.#size = 0
    return bytes
  }
}
