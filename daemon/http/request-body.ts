import { Readable } from 'node:stream'
import type { Context, MiddlewareHandler } from 'hono'
import { issue, Refusal, refuse } from '../../core/error/error.ts'
import { ByteCollector } from './byte-collector.ts'

type BodyReader = AsyncIterator<Uint8Array>

/** Node's streams of bodies: a stream of the `Request` would cost more than most bodies. */
const incoming = new WeakMap<Request, Readable>()

/** The readers of bodies that handlers have started to read, and may not have finished. */
const begun = new WeakMap<Request, BodyReader>()

/** The time by which a body must have arrived: one timer, however many chunks there are. */
class Deadline {
  readonly #seconds: number
  readonly #timer: NodeJS.Timeout
  #isOver = false
  #refuse: (refusal: Refusal) => void = () => undefined

  constructor(seconds: number) {
    this.#seconds = seconds
    this.#timer = setTimeout(() => this.end(), seconds * 1000)
  }

  end(): void {
    this.#isOver = true
    this.#refuse(this.#refusal())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * Waits for a chunk; refuses it when it is too late. Then it asks for none: nobody would be there
   * to hear that the client has left.
   */
  wait<T>(next: () => Promise<T>): Promise<T> {
    if (this.#isOver) return Promise.reject(this.#refusal())
    return new Promise((resolve, reject) => {
      this.#refuse = reject
      next().then(resolve, reject)
    })
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  #refusal(): Refusal {
    return new Refusal([issue('body_slow', { seconds: this.#seconds })])
  }
}

const deadlines = new WeakMap<Request, Deadline>()

/** Yields the body in chunks, within its time limit, because Node has none for HTTP/2. */
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

/**
 * Returns the whole body, or null if longer than `most` bytes. `seconds`: as for `readToEnd`; when
 * `sooner` aborts, they are over.
 */
export async function readWhole(
  request: Request,
  most: number,
  seconds?: number,
  sooner?: AbortSignal,
): Promise<Buffer | null> {
  const deadline = seconds === undefined ? null : setDeadline(request, seconds)
  sooner?.addEventListener('abort', () => deadline?.end(), { once: true })
  const body = new ByteCollector()
  try {
    for await (const chunk of bodyOf(request)) {
      body.add(chunk)
      if (body.size > most) return null
    }
  } finally {
    deadline?.clear()
  }
  return body.take()
}

function setDeadline(request: Request, seconds: number): Deadline {
  const deadline = new Deadline(seconds)
  deadlines.set(request, deadline)
  return deadline
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
    const { raw } = c.req
    const stream = (c.env as { incoming?: unknown } | undefined)?.incoming
    if (stream instanceof Readable) incoming.set(raw, stream)
    const deadline = setDeadline(raw, bounds.seconds)
    try {
      await next()
      const reader = begun.get(raw) ?? begin(raw)
      if (reader && !deadlines.get(raw)?.isOver) await skip(reader, bounds.bytes, deadline)
    } finally {
      deadline.clear()
    }
  }
}

function begin(request: Request): BodyReader | null {
  // It must outlive its reader: the unread rest is read before the answer is sent.
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
  try {
    return await (deadline ? deadline.wait(() => reader.next()) : reader.next())
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal([issue('body_lost')], { cause: error })
  }
}

const HERE = 'http://here.invalid'

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

/** Returns whether a page of this host sent the request; true if nothing tells. */
export function isFromHere(c: Context, base: string): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = c.req.header('origin')
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return origin === new URL(base).origin || host === c.req.header('host')
}

/** Returns a path on this server to redirect to, or null; parses as browsers do: `\` is `/`. */
export function ownPath(text: string | null | undefined): string | null {
  if (!text?.startsWith('/') || text.length > 2000 || !URL.canParse(text, HERE)) return null
  const url = new URL(text, HERE)
  return url.origin === HERE && !url.pathname.startsWith('//') ? url.pathname + url.search : null
}
