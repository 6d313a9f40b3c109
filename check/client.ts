import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { collectBytes } from '../core/async/collect-bytes.ts'
import { bodyBytes, timeLimits } from '../generator/web/body.ts'
import { openConnections, readRoutes } from '../generator/web/connections.ts'
import { connectionFailure } from '../generator/web/failure.ts'
import { REDIRECT } from '../generator/web/web.ts'
import { webUrl } from '../generator/web/web-url.ts'
import { Answer } from './answer.ts'
import { Untried, untried, Wrong, wrong } from './verdict.ts'

export interface Ask {
  readonly method?: 'GET' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | Readable
  /** Goes along as far as the host that was asked. */
  readonly token?: string | null
}

/** The budget of what strangers send; silence is over when it is for Cargo. */
const SILENCE_MS = 30_000
const TOTAL_MS = 60_000
/** The most bytes of one answer. */
export const ANSWER_MAX = 32 * 1024 ** 2
const RUN_MAX = 512 * 1024 ** 2

/** What Cargo follows; how often it is asked to wait, as many may be who ask at a time. */
const REDIRECTS = 5
const WAITS = 10
const WAIT_MAX_S = 60

/** What Cargo sends with every request (`util/network/http.rs`). */
const HEADERS = {
  'user-agent': 'cargo/1.95.0 (plimsoll check)',
  accept: '*/*',
  'accept-encoding': 'deflate, gzip',
}

/**
 * Asks web servers as Cargo does, and shows their answers as they are. Follows redirects of reads,
 * and leaves the token behind at another host; waits where a server asks for it by 429.
 */
export class Client {
  readonly #connections: Promise<Dispatcher>
  readonly #pause: (ms: number) => Promise<unknown>
  #bytes = 0

  /** `env` has the proxies, and `CARGO_HTTP_CAINFO` as in Cargo; `pause` waits. */
  constructor(
    env: Readonly<Record<string, string | undefined>>,
    pause: (ms: number) => Promise<unknown> = sleep,
  ) {
    const routes = readRoutes(env.CARGO_HTTP_CAINFO ?? null, env)
    this.#connections = openConnections(routes, () => true)
    this.#pause = pause
  }

  /** Returns any answer. Wrong where there is none; untried where the server wants no more. */
  async ask(address: string, ask: Ask = {}): Promise<Answer> {
    const isRead = (ask.method ?? 'GET') === 'GET'
    const hops: string[] = []
    let url = address
    for (let waits = 0, waited = 0; ; ) {
      const answer = await this.#once(url, hops, ask)
      const location = answer.header('location')
      if (answer.status === 429) {
        const after = seconds(answer.header('retry-after') || '1')
        waited += after
        if (++waits > WAITS || !(waited <= WAIT_MAX_S))
          untried(`${url} wants no more requests (429)`)
        await this.#pause(after * 1000)
      } else if (isRead && location !== '' && REDIRECT.includes(answer.status)) {
        hops.push(url)
        if (hops.length > REDIRECTS) wrong(`${address} redirects more than ${REDIRECTS} times`)
        url = webUrl(location, new URL(url))?.href ?? wrong(`${url} redirects to ${location}`)
      } else return answer
    }
  }

  async close(): Promise<void> {
    await (await this.#connections).destroy()
  }

  async #once(address: string, hops: readonly string[], ask: Ask): Promise<Answer> {
    const url = webUrl(address) ?? wrong(`${address} is no address that Cargo could read`)
    const isSame = hops.every(hop => new URL(hop).host === url.host)
    const authorization = isSame && ask.token != null ? { authorization: ask.token } : {}
    const limits = timeLimits(SILENCE_MS, TOTAL_MS)
    try {
      const answer = await (await this.#connections).request({
        origin: url.origin,
        // As it is written: Cargo does not encode `+` either.
        path: address.startsWith(url.origin)
          ? address.slice(url.origin.length)
          : url.pathname + url.search,
        method: ask.method ?? 'GET',
        headers: { ...HEADERS, ...ask.headers, ...authorization },
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
      return new Answer(url.href, answer.statusCode, raw, headers, hops.length > 0)
    } catch (error) {
      if (error instanceof Wrong || error instanceof Untried) throw error
      if ((error as NodeJS.ErrnoException).code === ONLY_HTTP_2)
        untried(`${url.origin} speaks nothing but HTTP/2, unlike this check`)
      const { message } = connectionFailure(url, error, limits.signal)
      return wrong(`${url.href} cannot be read: ${message}`)
    } finally {
      limits.end()
    }
  }
}

/** The code of the alert by which a server says that it does not speak HTTP/1.1. */
const ONLY_HTTP_2 = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/** Returns for how long a `Retry-After` asks: by a number, or by a time. */
function seconds(after: string): number {
  return Math.max(0, /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000)
}
