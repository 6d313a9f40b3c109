import { gunzipSync, inflateSync } from 'node:zlib'
import { isObject, jsonIn } from '../core/plain-data.ts'
import { untried, wrong } from './verdict.ts'

const DECODED_MAX = 64 * 1024 ** 2
const SHOWN_MAX = 120

/** What a registry answered: over HTTP, or as a file of a folder or of a repository. */
export class Answer {
  readonly url: string
  readonly status: number
  /** As they came, perhaps encoded; `bytes` are without the encoding. */
  readonly raw: Buffer
  readonly bytes: Buffer
  readonly isRedirected: boolean
  readonly #headers: Readonly<Record<string, string>>

  constructor(
    url: string,
    status: number,
    raw: Buffer = Buffer.alloc(0),
    headers: Readonly<Record<string, string>> = {},
    isRedirected = false,
  ) {
    this.url = url
    this.status = status
    this.raw = raw
    this.isRedirected = isRedirected
    this.#headers = headers
    this.bytes = decoded(url, raw, this.header('content-encoding').toLowerCase())
  }

  get text(): string {
    return this.bytes.toString('utf8')
  }

  get json(): unknown {
    return jsonIn(this.text)
  }

  at(key: string): unknown {
    return Object(this.json)[key]
  }

  header(name: string): string {
    return this.#headers[name] ?? ''
  }

  /** For how many seconds a shared cache may keep the answer; null if nothing says. */
  get maxAge(): number | null {
    const cache = this.header('cache-control').toLowerCase()
    if (/\b(?:no-store|no-cache|private)\b/.test(cache)) return 0
    const seconds = /\bs-maxage=(\d+)/.exec(cache) ?? /\bmax-age=(\d+)/.exec(cache)
    return seconds ? Number(seconds[1]) : null
  }

  /** The reasons of the web API; empty without a list of them. */
  get errors(): readonly string[] {
    const details = objectsIn(this.at('errors')).map(({ detail }) => detail)
    return details.filter(detail => typeof detail === 'string')
  }

  /** Whether it says clearly that nothing was done: by its reasons, or by a status of 400 to 499. */
  get isRefusal(): boolean {
    return this.errors.length > 0 || (this.status >= 400 && this.status < 500)
  }

  /** Whether Cargo takes it for a success of the web API (`crates-io/lib.rs`). */
  get isDone(): boolean {
    const isRead = this.bytes.length === 0 || this.json !== undefined
    return this.status >= 200 && this.status < 300 && isRead && this.at('errors') === undefined
  }

  toString(): string {
    const text = this.text.slice(0, SHOWN_MAX).replaceAll(/\s+/g, ' ')
    const body = /[\0\uFFFD]/.test(text) ? `${this.raw.length} bytes` : text
    const parts = [`${this.url} answers ${this.status}`, this.header('content-type'), body]
    return parts.filter(part => part !== '').join(', ')
  }
}

/** The objects in a list, or the only one; strangers may have written anything. */
export function objectsIn(value: unknown): Readonly<Record<string, unknown>>[] {
  return [value].flat().filter(isObject)
}

/** Returns a value in words, also one that has no text of its own. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'missing')
}

function decoded(url: string, raw: Buffer, encoding: string): Buffer {
  const limit = { maxOutputLength: DECODED_MAX }
  try {
    if (encoding === 'gzip') return gunzipSync(raw, limit)
    return encoding === 'deflate' ? inflateSync(raw, limit) : raw
  } catch (error) {
    if (Object(error).code === 'ERR_BUFFER_TOO_LARGE')
      untried(`${url} is larger than ${DECODED_MAX} bytes`)
    return wrong(`${url} is not the ${encoding} that it says it is`)
  }
}
