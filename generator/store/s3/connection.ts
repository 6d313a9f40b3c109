import type { IncomingMessage } from 'node:http'
import { refuse } from '../../../core/error/error.ts'
import type { BucketAddress } from '../../../core/settings/bucket.ts'
import { CredentialChain, regionOf } from './credentials.ts'
import { type Body, exchange, readBody } from './exchange.ts'
import type { Environment } from './metadata.ts'
import { retried, Transient } from './retry.ts'
import { encodePath, presignedQuery, queryText, type Scope, signedHeaders } from './sign.ts'
import { childText, type Element, parseXml } from './xml.ts'

/** Where a bucket is, and how to reach it. */
export interface BucketOptions {
  readonly address: BucketAddress
  /** Null for Amazon S3. */
  readonly endpoint: string | null
  /** Null for what the environment says, or else `us-east-1`. */
  readonly region: string | null
  /** Whether the bucket is in the path and not in the host; by default with an endpoint. */
  readonly pathStyle: 'auto' | 'on' | 'off'
  /** Where keys of the account are looked for. */
  readonly env: Environment
  /** How long requests are tried again, in milliseconds. */
  readonly budget?: number
}

/** A request to a bucket; an empty key means the bucket itself. */
export interface BucketRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  /** SHA-256 of the body in hex. */
  readonly hash?: string
  /** The statuses besides 200 to 299 that the caller understands. */
  readonly expects?: readonly number[]
}

/** An answer whose body was read. */
export interface BucketAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** The SHA-256 of no bytes. */
const OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** How long a server may be silent: a publish waits for it, and Cargo waits 30 seconds. */
const SILENCE_MS = 8000
const BUDGET_MS = 15_000

/** The longest answers: a list of 1,000 keys of 1,024 bytes, escaped. */
const ANSWER_MAX = 8 * 1024 * 1024

/** Statuses, and codes in answers, after which the same request may succeed. */
const TRANSIENT_STATUS = new Set([408, 409, 425, 429, 500, 502, 503, 504])
const TRANSIENT_CODE = new Set([
  'ExpiredToken',
  'InternalError',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'SlowDown',
])

/** Sends signed requests to one bucket and tries again what may succeed then. */
export class BucketConnection {
  readonly #options: BucketOptions
  readonly #chain: CredentialChain
  #base: Promise<{ readonly url: URL; readonly region: string }> | null = null
  /** By how many milliseconds the clock of the server is ahead of ours. */
  #skew = 0

  constructor(options: BucketOptions) {
    this.#options = options
    this.#chain = new CredentialChain(options.env)
  }

  /** Sends a request and reads the answer. Refuses what the server does not do. */
  send(request: BucketRequest): Promise<BucketAnswer> {
    return this.#retried(request, false, async answer => {
      const body = await readBody(answer, ANSWER_MAX)
      // S3 answers some requests with 200 before it knows whether they succeed.
      const isFailure = isSuccess(answer) && body.subarray(0, 200).includes('<Error>')
      const failure = isFailure ? parseXml(body.toString()) : null
      if (failure?.name === 'Error') throw this.#failure(request, answer, failure)
      return { status: answer.statusCode ?? 0, headers: answer.headers, body }
    })
  }

  /** Does the same, but leaves the body of a success to the caller, who must read or destroy it. */
  open(request: BucketRequest): Promise<IncomingMessage> {
    return this.#retried(request, true, async answer => {
      if (!isSuccess(answer)) await readBody(answer, ANSWER_MAX)
      return answer
    })
  }

  /** Returns the address from which anybody may read a key for `seconds`. */
  async presigned(key: string, seconds: number): Promise<string> {
    const { url, region } = await this.#place()
    const path = pathOf(url, key)
    const request = { method: 'GET', host: url.host, path, query: {}, headers: {} }
    const credentials = await reading(() => this.#chain.get())
    const scope = { credentials, region, now: this.#now() }
    return `${url.origin}${path}?${presignedQuery(request, seconds, scope)}`
  }

  /** Returns a key as the source of a copy: with its bucket, encoded. */
  copySource(key: string): string {
    return `/${this.#options.address.bucket}/${encodePath(key)}`
  }

  #retried<T>(
    request: BucketRequest,
    isStreamed: boolean,
    read: (answer: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const attempt = async () => {
      const answer = await this.#attempt(request, isStreamed)
      if (isSuccess(answer) || request.expects?.includes(answer.statusCode ?? 0))
        return await read(answer).catch(asTransient)
      const body = await readBody(answer, ANSWER_MAX).catch(asTransient)
      throw this.#failure(request, answer, parseXml(body.toString()))
    }
    return reading(() => retried(this.#options.budget ?? BUDGET_MS, attempt))
  }

  async #attempt(request: BucketRequest, isStreamed: boolean): Promise<IncomingMessage> {
    const { url, region } = await this.#place()
    const { method, key, query = {}, headers = {}, body, hash } = request
    const path = pathOf(url, key)
    const scope: Scope = { credentials: await this.#chain.get(), region, now: this.#now() }
    const signable = { method, host: url.host, path, query, headers }
    const text = queryText(query)
    return exchange({
      method,
      url,
      target: text === '' ? path : `${path}?${text}`,
      headers: signedHeaders(signable, hash ?? OF_NOTHING, scope),
      body,
      silence: SILENCE_MS,
      isStreamed,
    }).catch(asTransient)
  }

  /** Returns what an answer that is no success means: an error to throw. */
  #failure(request: BucketRequest, answer: IncomingMessage, element: Element | null): Error {
    const status = answer.statusCode ?? 0
    const code = childText(element, 'Code')
    if (code === 'ExpiredToken') this.#chain.forget()
    if (code === 'RequestTimeTooSkewed') this.#skew = skewOf(answer)
    const reason = `${request.method} ${status} ${code}`.trimEnd()
    if (TRANSIENT_STATUS.has(status) || TRANSIENT_CODE.has(code)) return new Transient(reason)
    const region = answer.headers['x-amz-bucket-region']
    const isElsewhere = status === 301 || code === 'AuthorizationHeaderMalformed'
    const hint =
      isElsewhere && typeof region === 'string'
        ? `the bucket is in the region "${region}"; set \`storage.region\``
        : childText(element, 'Message')
    return this.#refusal(hint === '' ? reason : `${reason}: ${hint}`)
  }

  #refusal(reason: string): Error {
    try {
      return refuse('bucket_refuses', { reason })
    } catch (error) {
      return error as Error
    }
  }

  #now(): Date {
    return new Date(Date.now() + this.#skew)
  }

  #place(): Promise<{ readonly url: URL; readonly region: string }> {
    this.#base ??= this.#findPlace()
    return this.#base
  }

  async #findPlace(): Promise<{ readonly url: URL; readonly region: string }> {
    const { address, endpoint, pathStyle, env } = this.#options
    const region = this.#options.region ?? (await regionOf(env)) ?? 'us-east-1'
    const { bucket } = address
    const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
    // A certificate for `*.s3.…` does not hold for a bucket with a dot.
    const isInPath =
      pathStyle === 'on' || (pathStyle === 'auto' && (endpoint !== null || bucket.includes('.')))
    if (isInPath) url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`
    else url.hostname = `${bucket}.${url.hostname}`
    return { url, region }
  }
}

/** Runs work that reads from a bucket; refuses when the connection breaks. */
export async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work().catch(asTransient)
  } catch (error) {
    if (!(error instanceof Transient)) throw error
    return refuse('bucket_unreachable', { reason: error.message })
  }
}

function pathOf(url: URL, key: string): string {
  const base = url.pathname.replace(/\/$/, '')
  return `${base}/${encodePath(key)}`
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300
}

function skewOf({ headers }: IncomingMessage): number {
  const theirs = Date.parse(headers.date ?? '')
  return Number.isNaN(theirs) ? 0 : theirs - Date.now()
}

/** Codes of errors of the network: no connection, none any more, or one that cannot be trusted. */
const OF_NETWORK = [
  /^E(?:CONN\w+|PIPE|PROTO|TIMEDOUT|NOTFOUND|AI_AGAIN|(?:HOST|NET)UNREACH|NETDOWN)$/,
  /^(?:ERR_STREAM_PREMATURE_CLOSE|(?:ERR_(?:TLS|SSL)|HPE|UNABLE)_\w+|\w*CERT\w*)$/,
]

/** Turns an error of the network into one after which the request is tried again. */
function asTransient(error: unknown): never {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || !OF_NETWORK.some(one => one.test(code))) throw error
  throw new Transient(message || code, { cause: error })
}
