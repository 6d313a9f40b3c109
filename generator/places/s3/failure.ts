import { setTimeout as sleep } from 'node:timers/promises'
import { issue, Refusal, refuse } from '../../../core/error/error.ts'

/** An error of the SDK; without a status it comes from the network, or there are no keys. */
interface Failure {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly syscall?: string
  readonly $metadata?: {
    readonly httpStatusCode?: number | undefined
    readonly clockSkewCorrected?: boolean
  }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

/** Statuses of an answer after which the same request may succeed later. */
const BUSY = new Set([408, 409, 425, 429, 500, 502, 503, 504])

/** Errors of the network: no connection, or none any more; and one that cannot be trusted. */
const BROKEN = /^E(?:CONN\w+|PIPE|PROTO|TIMEDOUT|NOTFOUND|AI_AGAIN|(?:HOST|NET)UNREACH|NETDOWN)$/
const UNTRUSTED = /^(?:(?:ERR_(?:TLS|SSL)|HPE|UNABLE)_\w+|\w*CERT\w*)$/

/** Returns the status that a server answered with; null for every other error. */
export function statusOf(error: unknown): number | null {
  return (error as Failure).$metadata?.httpStatusCode ?? null
}

/** Returns whether the same request may succeed later; with a clock that was wrong, at once. */
export function isTransient(error: unknown): boolean {
  const { name, $metadata } = error as Failure
  if ($metadata?.clockSkewCorrected || BUSY.has($metadata?.httpStatusCode ?? 0)) return true
  return name === 'RequestTimeout' || isBroken(error)
}

function isBroken(error: unknown): boolean {
  const { name, code = '' } = error as Failure
  return name === 'TimeoutError' || code === 'ERR_STREAM_PREMATURE_CLOSE' || BROKEN.test(code)
}

/** Runs work that reads from a bucket; refuses when the connection breaks. */
export async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw connectionRefusal(error) ?? error
  }
}

/** Refuses an answer that is not one of an object storage, such as the page of a portal. */
export function refuseForeign(reason: string): never {
  return refuse('bucket_foreign', { reason })
}

/**
 * Throws a refusal that says why a request failed; errors of the system as they are. What else the
 * SDK throws is about what it was given: keys, regions and files of profiles.
 */
export function refuseFailure(method: string, error: unknown): never {
  if (error instanceof Refusal) throw error
  const failure = error as Failure
  const { name, message } = failure
  const status = statusOf(error)
  if (status === null) {
    const refusal = connectionRefusal(error)
    if (refusal || failure.syscall !== undefined) throw refusal ?? error
    throw new Refusal([issue('bucket_client_unusable', { reason: message })], { cause: error })
  }
  if (status < 300) return refuseForeign(`${method} ${status} without the XML of S3`)
  // An answer without a body, as to HEAD, has no code.
  const reason =
    `${method} ${status} ${/^(?:Unknown\w*|Error|\d+)$/.test(name) ? '' : name}`.trimEnd()
  if (BUSY.has(status)) return refuse('bucket_unreachable', { reason })
  const region = failure.$response?.headers?.['x-amz-bucket-region']
  const isElsewhere = status === 301 || name === 'AuthorizationHeaderMalformed'
  const hint =
    isElsewhere && region
      ? `the bucket is in the region "${region}"; set \`storage.region\``
      : message
  const isSaid = hint !== '' && hint !== name && !/^Unknown/.test(hint)
  return refuse('bucket_refuses', { reason: isSaid ? `${reason}: ${hint}` : reason })
}

/** Returns the refusal for a connection that broke, or for missing keys; null for other errors. */
function connectionRefusal(error: unknown): Refusal | null {
  const { name, message, code = '' } = error as Failure
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError')
    return new Refusal([issue('bucket_keys_missing', { reason: message })])
  if (isBroken(error) || UNTRUSTED.test(code))
    return new Refusal([issue('bucket_unreachable', { reason: message || code })])
  return null
}

/** A failure after which the same request may succeed. */
export class Transient extends Error {
  override readonly name = 'Transient'
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/**
 * Runs `work` until it succeeds or throws what is not transient, or until `budget` milliseconds are
 * over; then throws the last failure. Pauses double, and are anything between nothing and their
 * full length ("full jitter"), so that many clients do not come back at once.
 */
export async function retried<T>(
  budget: number,
  work: () => Promise<T>,
  isTransient: (error: unknown) => boolean = error => error instanceof Transient,
): Promise<T> {
  const end = performance.now() + budget
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await work()
    } catch (error) {
      const wait = Math.random() * pause
      if (!isTransient(error) || performance.now() + wait > end) throw error
      await sleep(wait)
    }
  }
}
