import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal, refuse } from '../../../core/error/error.ts'

/** Options for reading a source on the web. */
export interface WebOptions {
  /** The pause before the first retry, in milliseconds; it doubles each time. */
  readonly pause?: number
  /** Maximum silence of the server, in milliseconds. */
  readonly silenceMs?: number
}

const TRIES = 5
const REDIRECTS = 5
const LONGEST_PAUSE = 60_000

/** The status of a missing crate: 404, on some servers 410 or 451 (Cargo's `http_remote.rs`). */
const MISSING = [404, 410, 451]

type Use<T> = (bytes: AsyncIterable<Uint8Array> | null) => Promise<T>

/** A temporary failure, which is worth another attempt. */
class TemporaryFailure extends Error {
  readonly after: number | null
  constructor(message: string, after: number | null = null) {
    super(message)
    this.after = after
  }
}

/**
 * Reads from untrusted web servers: HTTP and HTTPS only, also after redirects, never from HTTPS to
 * HTTP, never without limits. Retries temporary failures (no connection, 429, 5xx, silence).
 */
export class Web {
  readonly #options: Required<WebOptions>
  readonly #token: string | undefined
  readonly #tokenOrigins = new Set<string>()

  /** Sends `token` as `Authorization`, like Cargo, but only to trusted hosts. */
  constructor(options: WebOptions, token?: string) {
    this.#options = { pause: 500, silenceMs: 60_000, ...options }
    this.#token = token
  }

  /** Allows the token to be sent to the host of a URL that the operator has given. */
  trust(url: string): void {
    this.#tokenOrigins.add(parseUrl(url).origin)
  }

  /** Returns the bytes of a small file; null when there is none. Refuses more than `max` bytes. */
  async read(url: string, max: number): Promise<Buffer | null> {
    return this.take(url, async bytes => {
      if (bytes === null) return null
      const parts: Uint8Array[] = []
      let size = 0
      for await (const part of bytes) {
        size += part.length
        if (size > max) refuse('import_too_long', { what: plain(url), max })
        parts.push(part)
      }
      return Buffer.concat(parts)
    })
  }

  /** Passes a file's bytes to `use`; null when there is none. Restarts a broken transfer. */
  async take<T>(url: string, use: Use<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(url, use)
      } catch (error) {
        if (!(error instanceof TemporaryFailure)) throw error
        if (attempt === TRIES) refuse('import_http', { url: plain(url), reason: error.message })
        const pause = error.after ?? this.#options.pause * 2 ** (attempt - 1)
        await sleep(Math.min(pause, LONGEST_PAUSE))
      }
    }
  }

  async #attempt<T>(url: string, use: Use<T>): Promise<T> {
    const silence = new AbortController()
    const timer = setTimeout(() => silence.abort(), this.#options.silenceMs)
    const attempt = { signal: silence.signal, heard: () => timer.refresh() }
    try {
      const response = await this.#follow(parseUrl(url), attempt)
      return await use(MISSING.includes(response.status) ? null : this.#body(response, attempt))
    } finally {
      clearTimeout(timer)
    }
  }

  async #follow(start: URL, attempt: Attempt): Promise<Response> {
    let url = start
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      const response = await this.#request(url, attempt)
      if (response.status < 300 || response.status > 399) return checkStatus(response, url)
      await response.body?.cancel()
      const next = parseUrl(response.headers.get('location') ?? '', url)
      if (url.protocol === 'https:' && next.protocol === 'http:') {
        refuse('import_http', { url: plain(url.href), reason: 'it redirects from https to http' })
      }
      url = next
    }
    return refuse('import_http', { url: plain(start.href), reason: 'it redirects too often' })
  }

  async #request(url: URL, { signal }: Attempt): Promise<Response> {
    const headers = new Headers({ 'user-agent': 'plimsoll-import', accept: '*/*' })
    if (this.#token !== undefined && this.#tokenOrigins.has(url.origin))
      headers.set('authorization', this.#token)
    try {
      return await fetch(url, { headers, redirect: 'manual', signal })
    } catch (error) {
      throw passing(error, signal)
    }
  }

  async *#body(response: Response, { signal, heard }: Attempt): AsyncGenerator<Uint8Array> {
    const reader = response.body?.getReader()
    if (!reader) return
    try {
      for (;;) {
        heard()
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw passing(error, signal)
        })
        if (done) return
        yield value
      }
    } finally {
      // After an early stop, a failed connection no longer matters.
      await reader.cancel().catch(() => undefined)
    }
  }
}

/** A request that is aborted when the server sends nothing for too long. */
interface Attempt {
  readonly signal: AbortSignal
  readonly heard: () => void
}

function passing(error: unknown, signal: AbortSignal): Error {
  if (error instanceof Refusal) return error
  if (signal.aborted) return new TemporaryFailure('the server does not respond')
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return new TemporaryFailure(cause instanceof Error ? cause.message : String(cause))
}

function checkStatus(response: Response, url: URL): Response {
  const { status } = response
  if (status === 200 || MISSING.includes(status)) return response
  if (status === 401 || status === 403)
    refuse('import_http_denied', { url: plain(url.href), status })
  if (status === 408 || status === 429 || status >= 500) {
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    throw new TemporaryFailure(
      `HTTP status ${status}`,
      Number.isNaN(seconds) ? null : seconds * 1000,
    )
  }
  return refuse('import_http', { url: plain(url.href), reason: `HTTP status ${status}` })
}

/** Parses a URL that may be read; a relative one is relative to `base`. */
function parseUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : null
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isWeb || url.username !== '' || url.password !== '')
    refuse('import_url_invalid', { url: plain(text) })
  return url
}

/** Returns a URL for messages: without user, query, and control characters for terminals. */
export function plain(url: string): string {
  const open = url.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1').replace(/[?#].*$/s, '')
  return open.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}')
}
