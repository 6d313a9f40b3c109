// generator/web: How this program asks other servers, within bounds. Upstreams, imports and check
// call it; it never serves.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { collectBytes } from '../../core/async/collect-bytes.ts'
import { refuse } from '../../core/error/error.ts'
import { formatBytes } from '../../core/quantity.ts'
import { isLoopback } from '../../core/settings/issuer.ts'
import { VERSION } from '../version.ts'
import { bodyBytes, decodedBytes, type TimeLimits, timeLimits } from './body.ts'
import { openConnections, type Routes, readRoutes } from './connections.ts'
import {
  connectionFailure,
  isTemporary,
  refuseFailure,
  retryAfter,
  statusFailure,
  WebFailure,
} from './failure.ts'
import { isForbiddenAddress, isPrivateAddress, PrivateAddress } from './private-address.ts'
import { plain, webUrl } from './web-url.ts'

export interface WebOptions {
  /** The pause before the first retry of `read` and `take`, in milliseconds; it doubles. */
  readonly pause?: number
  readonly silenceMs?: number
  readonly caFile?: string | null
  readonly contact?: string | null
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY may be, in upper or lower case. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** An answer; without bytes unless its status is 200. */
export interface WebAnswer {
  readonly status: 200 | 304 | 404
  readonly bytes: Buffer
  readonly etag: string | null
  readonly lastModified: string | null
}

const TRIES = 5
const REDIRECTS = 5
const LONGEST_PAUSE = 60_000

/** The status of a missing file: 404, on some servers 410 or 451 (Cargo's `http_remote.rs`). */
const MISSING = [404, 410, 451]

export const REDIRECT = [301, 302, 303, 307, 308]

/** Asks for small files to be compressed; `.crate` files are, and Cargo never decodes them. */
const COMPRESSED = { 'accept-encoding': 'gzip' }

type Bytes = AsyncIterable<Uint8Array>
type Headers = Readonly<Record<string, string>>

/**
 * Reads from untrusted web servers: HTTP and HTTPS only, also after redirects, never from HTTPS to
 * HTTP, never from a private address of a host that was not named, never without limits.
 */
export class Web {
  readonly #options: WebOptions
  readonly #routes: Routes
  readonly #headers: Headers
  readonly #token: string | undefined
  readonly #tokenOrigins = new Set<string>()
  readonly #trustedHosts = new Set<string>()
  #connections: Promise<Dispatcher> | null = null

  /** Sends `token` only to trusted hosts; refuses certificates or a proxy that cannot be used. */
  constructor(options: WebOptions, token?: string) {
    this.#options = options
    this.#routes = readRoutes(options.caFile ?? null, options.env ?? {})
    // Headers are sent as Latin-1; this makes them UTF-8.
    const contact = options.contact ? Buffer.from(` (${options.contact})`).toString('latin1') : ''
    this.#headers = { 'user-agent': `plimsoll/${VERSION}${contact}`, accept: '*/*' }
    this.#token = token
  }

  /** Trusts what the operator has named: its host with any address, and its port with the token. */
  trust(url: string, hasToken = true): void {
    const { origin, hostname } = checkedUrl(url)
    if (hasToken) this.#tokenOrigins.add(origin)
    this.#trustedHosts.add(hostname)
  }

  /**
   * Asks once, without retries, and takes at most `timeoutMs` milliseconds. Throws a `WebFailure`
   * for any other answer, for more than `max` bytes, and for fewer than the server announced.
   */
  async ask(
    url: string,
    options: { readonly etag?: string | null; readonly max: number; readonly timeoutMs: number },
  ): Promise<WebAnswer> {
    const { etag = null, max, timeoutMs } = options
    const start = webUrl(url)
    if (!start) throw new WebFailure(url, 'it is not a URL that can be read')
    const headers = { ...COMPRESSED, ...(etag !== null && { 'if-none-match': etag }) }
    return this.#attempt(start, { headers, timeoutMs }, async (bytes, answer) => {
      const all = bytes && (await collectBytes(bytes, max))
      if (bytes && !all)
        throw new WebFailure(url, `it is larger than the limit of ${formatBytes(max)}`)
      return {
        status: all ? 200 : answer.statusCode === 304 ? 304 : 404,
        bytes: all ?? Buffer.alloc(0),
        etag: headerOf(answer, 'etag'),
        lastModified: headerOf(answer, 'last-modified'),
      }
    })
  }

  /**
   * Sends a request once, over https unless to this machine, and returns the answer whatever its
   * status is; it follows no redirect. Throws a `WebFailure` without one, after `timeoutMs`
   * milliseconds in all, and for more than `max` bytes.
   */
  async exchange(
    url: string,
    sent: Sent & { readonly max: number },
  ): Promise<Pick<WebAnswer, 'bytes'> & { readonly status: number; readonly type: string | null }> {
    return this.#once(url, sent, async (to, answer, limits) => {
      const bytes = decodedBytes(to, answer, bodyBytes(to, answer, limits))
      const all = await collectBytes(bytes, sent.max)
      if (!all) throw new WebFailure(url, `it is larger than the limit of ${sent.max} bytes`)
      return { status: answer.statusCode, type: headerOf(answer, 'content-type'), bytes: all }
    })
  }

  /**
   * Sends a request once, also over http, reads nothing of the answer's body, and follows no
   * redirect. Returns the status, and the pause in milliseconds that the server asks for. Throws a
   * `WebFailure` if there is no answer in `timeoutMs` milliseconds.
   */
  async send(
    url: string,
    sent: Sent,
  ): Promise<{ readonly status: number; readonly after: number | null }> {
    return this.#once(url, { ...sent, isOpen: true }, async (_, { statusCode, headers }) => ({
      status: statusCode,
      after: retryAfter(headers),
    }))
  }

  /** Returns the bytes of a small file; null when there is none. Refuses more than `max` bytes. */
  async read(url: string, max: number): Promise<Buffer | null> {
    return this.#persist(url, COMPRESSED, async bytes => {
      const all = bytes && (await collectBytes(bytes, max))
      if (bytes && !all) refuse('import_too_long', { what: plain(url), max })
      return all
    })
  }

  /** Passes a file's bytes to `use`; null when there is none. Restarts a broken transfer. */
  async take<T>(url: string, use: (bytes: Bytes | null) => Promise<T>): Promise<T> {
    return this.#persist(url, {}, use)
  }

  async close(): Promise<void> {
    await (await this.#connections)?.destroy()
  }

  async #once<T>(
    url: string,
    { headers = {}, timeoutMs, isOpen = false, ...sent }: Sent & { readonly isOpen?: boolean },
    use: (to: URL, answer: Answer, limits: TimeLimits) => Promise<T>,
  ): Promise<T> {
    const to = webUrl(url)
    if (!to) throw new WebFailure(url, 'it is not a URL that can be asked')
    if (to.protocol !== 'https:' && !isOpen && !isLoopback(to.hostname))
      throw new WebFailure(url, 'it is not encrypted: write an https URL')
    const limits = timeLimits(timeoutMs, timeoutMs)
    try {
      const answer = await this.#request(to, headers, limits.signal, sent)
      try {
        return await use(to, answer, limits)
      } finally {
        // After an early stop, a failed connection no longer matters.
        answer.body.on('error', () => undefined).destroy()
      }
    } finally {
      limits.end()
    }
  }

  async #persist<T>(url: string, headers: Headers, use: Use<T>): Promise<T> {
    const start = checkedUrl(url)
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(start, { headers }, use)
      } catch (error) {
        if (!(error instanceof WebFailure)) throw error
        if (!isTemporary(error) || attempt === TRIES) refuseFailure(error)
        const pause = error.after ?? (this.#options.pause ?? 500) * 2 ** (attempt - 1)
        await sleep(Math.min(pause, LONGEST_PAUSE))
      }
    }
  }

  async #attempt<T>(start: URL, { headers, timeoutMs }: Ask, use: Use<T>): Promise<T> {
    const limits = timeLimits(this.#options.silenceMs ?? 60_000, timeoutMs)
    try {
      const { url, answer } = await this.#followRedirects(start, headers, limits.signal)
      const bytes = answer.statusCode === 200 ? bodyBytes(url, answer, limits) : null
      const isDecoded = bytes !== null && 'accept-encoding' in headers
      try {
        return await use(isDecoded ? decodedBytes(url, answer, bytes) : bytes, answer)
      } finally {
        // After an early stop, a failed connection no longer matters.
        answer.body.on('error', () => undefined).destroy()
      }
    } finally {
      limits.end()
    }
  }

  async #followRedirects(
    start: URL,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<{ readonly url: URL; readonly answer: Answer }> {
    let url = start
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      const answer = await this.#request(url, headers, signal)
      const { statusCode } = answer
      if (statusCode === 200) return { url, answer }
      // An empty connection can be used again.
      await answer.body.dump({ limit: 16 * 1024 }).catch(() => undefined)
      const isCurrent = statusCode === 304 && 'if-none-match' in headers
      if (isCurrent || MISSING.includes(statusCode)) return { url, answer }
      if (!REDIRECT.includes(statusCode)) throw statusFailure(url, answer)
      url = redirected(url, headerOf(answer, 'location') ?? '')
    }
    throw new WebFailure(start.href, 'it redirects too often')
  }

  async #request(
    url: URL,
    asked: Headers,
    signal: AbortSignal,
    { method = 'GET', body = null }: Pick<Sent, 'method' | 'body'> = {},
  ): Promise<Answer> {
    const { origin, hostname, pathname, search } = url
    const isTrusted = (host: string) => this.#trustedHosts.has(host)
    const address = hostname.replace(/^\[|\]$/g, '')
    const headers: Record<string, string> = { ...this.#headers, ...asked }
    if (this.#token !== undefined && this.#tokenOrigins.has(origin))
      headers.authorization = this.#token
    this.#connections ??= openConnections(this.#routes, isTrusted)
    const connections = await this.#connections
    try {
      // An address needs no look-up.
      const isNamed = isTrusted(hostname)
      const isRefused = isNamed ? isForbiddenAddress : isPrivateAddress
      if (isRefused(address)) throw new PrivateAddress(hostname, address, isNamed)
      const path = pathname + search
      return await Promise.race([
        connections.request({ origin, path, method, body, headers, signal }),
        // A connection that is still being made, as through a proxy, does not hear the signal.
        once(signal, 'abort').then(() => Promise.reject(signal.reason)),
      ])
    } catch (error) {
      throw connectionFailure(url, error, signal)
    }
  }
}

type Answer = Dispatcher.ResponseData
type Use<T> = (bytes: Bytes | null, answer: Answer) => Promise<T>

interface Sent {
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PURGE'
  readonly body?: string | Buffer | null
  readonly headers?: Headers
  readonly timeoutMs: number
}

interface Ask {
  readonly headers: Headers
  readonly timeoutMs?: number
}

function headerOf({ headers }: Answer, name: string): string | null {
  const [value = null] = [headers[name]].flat()
  return value
}

function redirected(from: URL, location: string): URL {
  const to = location === '' ? null : webUrl(location, from)
  if (!to) {
    const reason = `it redirects, but ${plain(location)} is not a URL that can be read`
    throw new WebFailure(from.href, reason)
  }
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw new WebFailure(from.href, 'it redirects from https to http')
  return to
}

function checkedUrl(text: string): URL {
  return webUrl(text) ?? refuse('import_url_invalid', { url: plain(text) })
}
