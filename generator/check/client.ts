import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, inflateSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { bodyBytes, collectBytes, timeLimits } from '../web/body.ts'
import { openConnections, readRoutes } from '../web/connections.ts'
import { connectionFailure } from '../web/failure.ts'
import { webUrl } from '../web/web-url.ts'
import { Answer } from './answer.ts'
import { untried, wrong } from './verdict.ts'

/** One request. */
export interface Ask {
  readonly method?: 'GET' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** The budget of what strangers send. */
const SILENCE_MS = 10_000
const TOTAL_MS = 30_000
const ANSWER_MAX = 32 * 1024 ** 2
const RUN_MAX = 512 * 1024 ** 2
/** An encoded answer may not become larger than this. */
const DECODED_MAX = 64 * 1024 ** 2

/** What Cargo follows, and how often it is asked to wait. */
const REDIRECTS = 5
const WAITS = 3
const WAIT_MAX_S = 60

/** What Cargo sends with every request (`util/network/http.rs`). */
const HEADERS = { 'user-agent': 'cargo/1.95.0 (plimsoll check)', accept: '*/*' }

/**
 * Asks web servers as Cargo does, and shows their answers as they are. Follows redirects of reads,
 * and leaves the token behind at another host; waits where a server asks for it by 429.
 */
export class Client {
  readonly #env: Readonly<Record<string, string | undefined>>
  #connections: Promise<Dispatcher> | null = null
  #bytes = 0

  /** `env` has the proxies, and `CARGO_HTTP_CAINFO` as in Cargo. */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env
  }

  /** Returns any answer. Wrong where there is none; untried where the server wants no more. */
  async ask(address: string, ask: Ask = {}): Promise<Answer> {
    const hops: string[] = []
    let url = address
    for (let waits = 0; ; ) {
      const answer = await this.#once(url, hops, ask)
      const after = Number(answer.headers['retry-after'] ?? 1)
      const location = answer.headers.location ?? ''
      if (answer.status === 429) {
        if (++waits > WAITS || !(after <= WAIT_MAX_S))
          untried(`${url} wants no more requests (429)`)
        await sleep(after * 1000)
      } else if ((ask.method ?? 'GET') === 'GET' && isRedirect(answer.status) && location !== '') {
        hops.push(url)
        if (hops.length > REDIRECTS) wrong(`${address} redirects more than ${REDIRECTS} times`)
        url = webUrl(location, new URL(url))?.href ?? wrong(`${url} redirects to ${location}`)
      } else return answer
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await (await this.#connections)?.destroy()
  }

  async #once(address: string, hops: readonly string[], ask: Ask): Promise<Answer> {
    const url = webUrl(address) ?? wrong(`${address} is no address that Cargo could read`)
    const { authorization, ...open } = { ...HEADERS, ...ask.headers } as Record<string, string>
    const isSame = hops.every(hop => new URL(hop).host === url.host)
    const limits = timeLimits(SILENCE_MS, TOTAL_MS)
    try {
      this.#connections ??= openConnections(
        readRoutes(this.#env.CARGO_HTTP_CAINFO ?? null, this.#env),
        () => true,
      )
      const answer = await (await this.#connections).request({
        origin: url.origin,
        // As it is written: Cargo does not encode `+` either.
        path: address.startsWith(url.origin)
          ? address.slice(url.origin.length)
          : url.pathname + url.search,
        method: ask.method ?? 'GET',
        headers: isSame && authorization !== undefined ? { ...open, authorization } : open,
        body: ask.body ?? null,
        signal: limits.signal,
      })
      const raw = await collectBytes(bodyBytes(url, answer, limits), ANSWER_MAX)
      answer.body.on('error', () => undefined).destroy()
      if (raw === null) return untried(`${url.href} is larger than ${ANSWER_MAX} bytes`)
      this.#bytes += raw.length
      if (this.#bytes > RUN_MAX) untried(`the registry sent ${RUN_MAX} bytes`)
      const headers = Object.fromEntries(
        Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
      )
      const { statusCode: status } = answer
      return new Answer({ url: url.href, status, headers, raw, bytes: decoded(headers, raw), hops })
    } catch (error) {
      if (error instanceof Error && /^(?:Wrong|Untried)$/.test(error.name)) throw error
      return wrong(
        `${url.href} cannot be read: ${connectionFailure(url, error, limits.signal).message}`,
      )
    } finally {
      limits.end()
    }
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

function decoded(headers: Readonly<Record<string, string>>, raw: Buffer): Buffer {
  const limit = { maxOutputLength: DECODED_MAX }
  try {
    if (headers['content-encoding'] === 'gzip') return gunzipSync(raw, limit)
    return headers['content-encoding'] === 'deflate' ? inflateSync(raw, limit) : raw
  } catch {
    // A body that is not what its header says; the statements about it see the bytes.
    return raw
  }
}
