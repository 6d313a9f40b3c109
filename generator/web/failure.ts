import type { Dispatcher } from 'undici'
import { issue, Refusal } from '../../core/error/error.ts'
import { PrivateAddress } from './private-address.ts'
import { plain } from './web-url.ts'

/** Thrown for a server that cannot be reached or answers anything else; says why in plain words. */
export class WebFailure extends Error {
  override readonly name = 'WebFailure'
  /** The address that failed, perhaps after redirects; for messages. */
  readonly url: string
  /** Whether there was no whole answer: no connection, TLS, silence, too little time. */
  readonly isNetwork: boolean
  readonly status: number | null
  /** Milliseconds after which the server wants to be asked again. */
  readonly after: number | null

  constructor(
    url: string,
    message: string,
    { isNetwork = false, status = null, after = null, ...more }: Partial<FailureDetails> = {},
  ) {
    super(message, more)
    this.url = plain(url)
    this.isNetwork = isNetwork
    this.status = status
    this.after = after
  }
}

interface FailureDetails extends ErrorOptions, Pick<WebFailure, 'isNetwork' | 'status' | 'after'> {}

/** Returns the failure for an error of a connection, or for the limit that ended it. */
export function connectionFailure(url: URL, error: unknown, signal: AbortSignal): WebFailure {
  if (error instanceof PrivateAddress)
    return new WebFailure(url.href, error.message, { cause: error })
  // One error for each address of the host; the first says enough.
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const reason = signal.aborted ? signal.reason : first instanceof Error ? first.message : first
  return new WebFailure(url.href, String(reason), { isNetwork: true, cause: error })
}

/** Returns the failure for a status that was not hoped for. */
export function statusFailure(url: URL, { statusCode, headers }: Dispatcher.ResponseData) {
  const after = retryAfter(headers)
  return new WebFailure(url.href, `HTTP status ${statusCode}`, { status: statusCode, after })
}

/** A date of HTTP (RFC 9110 §5.6.7); `Date.parse` alone finds one in nearly any text. */
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Returns after how many milliseconds a server wants the next request; null if it does not say. */
export function retryAfter(headers: Dispatcher.ResponseData['headers']): number | null {
  const text = String(headers['retry-after'] ?? '')
  if (/^\d+$/.test(text)) return Number(text) * 1000
  return DATE.test(text) ? Math.max(Date.parse(text) - Date.now(), 0) : null
}

/** Whether another attempt may help: no connection, silence, 408, 429, 5xx. */
export function isTemporary({ isNetwork, status }: WebFailure): boolean {
  return isNetwork || status === 408 || status === 429 || (status ?? 0) >= 500
}

/** Throws a failure as a `Refusal` that tells the user of a command what to do. */
export function refuseFailure(failure: WebFailure): never {
  const { url, status, message, cause } = failure
  const told =
    status === 401 || status === 403
      ? issue('import_http_denied', { url, status })
      : cause instanceof PrivateAddress
        ? issue('import_address_private', { url, address: cause.address })
        : issue('import_http', { url, reason: message })
  throw new Refusal([told], { cause: failure })
}
