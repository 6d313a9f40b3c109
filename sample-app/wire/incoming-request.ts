import type { Context } from 'hono'
import { type FormBody, readForm } from '../form/form-body.ts'
import type { FormFields } from '../form/form-fields.ts'
import { parseCookies } from './cookies.ts'
import { type JsonBody, readJsonBody } from './json-body.ts'
import { type Pairs, parseQuery } from './pairs.ts'
import { requestTarget, type SampleEnv } from './target.ts'

/** One request, read source by source, each at most once and only when asked for. */
export class IncomingRequest {
  readonly context: Context<SampleEnv>
  readonly #fields: FormFields
  #query: Pairs | undefined
  #cookies: Pairs | undefined
  #json: Promise<JsonBody> | undefined
  #form: Promise<FormBody> | undefined

  /** @param fields the form fields that the operation declares; others are checked against the limits, not kept */
  constructor(context: Context<SampleEnv>, fields: FormFields) {
    this.context = context
    this.#fields = fields
  }

  /** A path parameter, decoded; undefined when the route has none of this name. */
  pathValue(name: string): string | undefined {
    return this.context.req.param(name)
  }

  /** All values of a query parameter, in request order. */
  queryValues(name: string): readonly string[] {
    this.#query ??= parseQuery(requestTarget(this.context.req.raw, this.context.env).query.slice(1))
    return this.#query.get(name) ?? []
  }

  /** All values of a cookie, in request order. */
  cookieValues(name: string): readonly string[] {
    this.#cookies ??= parseCookies(this.headerValues('cookie').join('; '))
    return this.#cookies.get(name) ?? []
  }

  /**
   * All values of a header, in request order, as Latin-1; Node has trimmed them. `Headers` would join them with commas, so
   * the raw ones are read where there are any.
   * @param name in lower case
   */
  headerValues(name: string): readonly string[] {
    const raw = this.context.env?.incoming?.rawHeaders
    if (!raw) {
      const joined = this.context.req.header(name)
      return joined === undefined ? [] : [joined]
    }
    return raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === name)
  }

  /** The body as JSON; an operation reads either this or the form. */
  json(): Promise<JsonBody> {
    this.#json ??= readJsonBody(this.#chunks(), this.#contentType())
    return this.#json
  }

  /** The body as a form; everything it holds is freed by `close`. */
  form(): Promise<FormBody> {
    this.#form ??= readForm(this.#chunks(), this.#contentType(), this.#fields)
    return this.#form
  }

  /** Closes the uploads, if there were any; a request whose form could not be read has closed them itself. */
  async close(): Promise<void> {
    const form = await this.#form?.catch(() => undefined)
    await form?.close()
  }

  #contentType(): string {
    return this.context.req.header('content-type') ?? ''
  }

  /**
   * The body in pieces, as fast as they are consumed. The Node stream is read directly: in Node 20 the web stream over
   * it reads ahead without a bound. It is left alive on an early exit, because the answer needs its socket.
   */
  #chunks(): AsyncIterable<Uint8Array> {
    const incoming = this.context.env?.incoming
    if (incoming) return incoming.iterator({ destroyOnReturn: false })
    return this.context.req.raw.body ?? noChunks()
  }
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}
