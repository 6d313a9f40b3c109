import { jsonIn } from '../../core/urls/index-config.ts'
import { short } from './verdict.ts'

/** What a registry answered: over HTTP, or as a file of a folder or of a repository. */
export interface AnswerParts {
  readonly url: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** As they came, perhaps encoded. */
  readonly raw?: Buffer
  /** Without the encoding. */
  readonly bytes?: Buffer
  /** The addresses that redirected, in order. */
  readonly hops?: readonly string[]
}

/** One answer, with the views of its body that statements need. */
export class Answer {
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly raw: Buffer
  readonly bytes: Buffer
  readonly hops: readonly string[]

  constructor({ url, status, headers = {}, raw, bytes, hops = [] }: AnswerParts) {
    this.url = url
    this.status = status
    this.headers = headers
    this.bytes = bytes ?? raw ?? Buffer.alloc(0)
    this.raw = raw ?? this.bytes
    this.hops = hops
  }

  get text(): string {
    return this.bytes.toString('utf8')
  }

  /** The JSON of the body; undefined for anything else. */
  get json(): unknown {
    return jsonIn(this.text)
  }

  /** Returns a header, empty without it. */
  header(name: string): string {
    return this.headers[name] ?? ''
  }

  /** Returns for how many seconds a shared cache may keep the answer; null if nothing says. */
  get maxAge(): number | null {
    const cache = this.header('cache-control').toLowerCase()
    if (/\b(?:no-store|no-cache|private)\b/.test(cache)) return 0
    const seconds = /\bs-maxage=(\d+)/.exec(cache) ?? /\bmax-age=(\d+)/.exec(cache)
    return seconds ? Number(seconds[1]) : null
  }

  /** The reasons of the web API in an answer; null if there is no list of them. */
  get errors(): string[] | null {
    const { errors } = (this.json ?? {}) as { errors?: { detail?: unknown }[] }
    if (!Array.isArray(errors) || !errors.every(error => typeof error?.detail === 'string'))
      return null
    return errors.map(error => String(error.detail))
  }

  /** Whether Cargo takes it for a success of the web API (`crates-io/lib.rs`). */
  get isDone(): boolean {
    const isRead = this.bytes.length === 0 || this.json !== undefined
    const { errors } = Object(this.json) as { errors?: unknown }
    return this.status >= 200 && this.status < 300 && isRead && errors === undefined
  }

  /** In words, for a report. */
  toString(): string {
    const type = this.header('content-type')
    const text = short(this.text.replaceAll(/\s+/g, ' ').trim(), 120)
    const body = /[\0\uFFFD]/.test(text) ? `${this.raw.length} bytes` : text
    return [`${this.url} answers ${this.status}`, type, body].filter(part => part !== '').join(', ')
  }
}
