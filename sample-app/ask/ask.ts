import type { HttpBindings } from '@hono/node-server'
import type { Context, Env } from 'hono'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import type { RouterRoute } from 'hono/types'
import { findTargetHandler } from 'hono/utils/handler'
import * as v from 'valibot'
import { type Chunks, Form } from '../form/form.ts'
import { readJson } from './json-body.ts'
import { ValidationError } from './problem.ts'

/** Node's own objects, which are absent under `app.request()`. */
export type NodeEnv = { Bindings: Partial<HttpBindings> }
/** Where a named value comes from, in the order in which problems are reported. */
export const SOURCES = ['path', 'query', 'header', 'cookie', 'form'] as const
export type Source = (typeof SOURCES)[number]

/** What a route or a dependency asks for; `needs` are read first, `body` is a JSON object. */
export type Inputs = { readonly [S in Source]?: Readonly<Record<string, v.GenericSchema>> } & {
  readonly needs?: Readonly<Record<string, Dependency<unknown>>>
  readonly body?: v.GenericSchema
  /** For the documentation: what is answered, by status, and what proves who is asking. */
  readonly answers?: Readonly<Record<number, v.GenericSchema>>
  readonly security?: Readonly<Record<string, object>>
}

/** Made by `dependency` and `uncached`. */
export interface Dependency<T> {
  readonly inputs: Inputs
  readonly use_cache?: false
  run(values: never, c: never): T | Promise<T>
}

type Output<S> = S extends v.GenericSchema ? v.InferOutput<S> : never
/** What inputs turn into: an object per source, the body, and each result by its name. */
type Values<I extends Inputs> = {
  readonly [S in keyof I & Source]: { readonly [K in keyof I[S]]: Output<I[S][K]> }
} & { readonly [B in keyof I & 'body']: Output<I[B]> } & {
  readonly [K in keyof I['needs']]: I['needs'][K] extends Dependency<infer T> ? T : never
}

const declarations = new WeakMap<object, Inputs>()
const readings = new WeakMap<Context, Reading>()

/** Middleware that reads what a route asks for into `c.var`; what is wrong goes into one 422. */
export function ask<const I extends Inputs>(inputs: I) {
  const middleware = createMiddleware<{ Variables: Values<I> }>(async (c, next) => {
    // Nobody answers this path and method: 404, 405 and 307 come before what a whole app asks for.
    if (matchedRoutes(c).every(({ method }) => method === 'ALL')) return next()
    const earlier = readings.get(c)
    const reading = earlier ?? new Reading(c)
    readings.set(c, reading)
    try {
      const values = await reading.read(inputs)
      if (!values) throw reading.refusal
      for (const [name, value] of Object.entries(values)) c.set(name as never, value as never)
      await next()
    } finally {
      if (!earlier) await reading.finish()
    }
  })
  declarations.set(middleware, inputs)
  return middleware
}

/** Work that a route `needs` before its handler, once per request, with inputs of its own. */
export function dependency<const I extends Inputs, T, E extends Env = Env>(
  inputs: I,
  run: (values: Values<I>, c: Context<E>) => T | Promise<T>,
): Dependency<T> {
  return { inputs, run }
}

/** The same dependency with `use_cache: false`: its result is computed anew for this place. */
export function uncached<T>(one: Dependency<T>): Dependency<T> {
  return { ...one, use_cache: false }
}

/** What routes ask for, and all dependencies behind them, each once. */
export function inputsOf(routes: readonly RouterRoute[]): Inputs[] {
  const asked = routes.map(({ handler }) => declarations.get(findTargetHandler(handler)))
  const all = new Set(asked.filter(inputs => inputs !== undefined))
  for (const { needs = {} } of all) for (const one of Object.values(needs)) all.add(one.inputs)
  return [...all]
}

/** What is asked of one source, each with what its schema says of it. */
export function entriesOf(source: Source, inputs: readonly Inputs[]) {
  const all = inputs.flatMap(one => Object.entries(one[source] ?? {}))
  return all.map(([key, schema]) => {
    // `alias` is the name outside, where a header's `_` is a `-`; `also` a second one of a header.
    const { alias = key, also } = v.getMetadata(schema) as { alias?: string; also?: string }
    let inner: { readonly type: string; readonly wrapped?: typeof inner } = schema
    while (inner.wrapped) inner = inner.wrapped
    const name = source === 'header' ? alias.replaceAll('_', '-').toLowerCase() : alias
    return { key, schema, name, also, type: inner.type }
  })
}

type Outcome = { readonly value: unknown } | undefined

/** One request while its inputs are read: each part once, each dependency once. */
class Reading {
  readonly #c: Context<NodeEnv>
  readonly #results = new Map<unknown, Outcome>()
  readonly refusal = new ValidationError()
  #form: Form | undefined

  constructor(c: Context) {
    this.#c = c
  }

  /** Undefined when one of the inputs is wrong; the others are read all the same. */
  async read(inputs: Inputs): Promise<object | undefined> {
    const read: [string, Outcome][] = []
    const { needs = {}, body } = inputs
    for (const [name, one] of Object.entries(needs)) read.push([name, await this.#need(one)])
    for (const source of SOURCES) {
      if (inputs[source]) read.push([source, await this.#parse(source, inputs)])
    }
    if (body) read.push(['body', await this.#body(body)])
    const values = read.flatMap(([name, outcome]) => (outcome ? [[name, outcome.value]] : []))
    return values.length === read.length ? Object.fromEntries(values) : undefined
  }

  /** Closes uploads when the answer is out: it may be streaming one of them. */
  async finish(): Promise<void> {
    const outgoing = this.#c.env?.outgoing
    if (!outgoing || outgoing.closed) await this.#form?.close()
    else outgoing.once('close', () => this.#form?.close().catch(error => console.error(error)))
  }

  async #need({ inputs, run, use_cache }: Dependency<unknown>): Promise<Outcome> {
    if (use_cache !== false && this.#results.has(run)) return this.#results.get(run)
    const values = await this.read(inputs)
    const outcome = values && { value: await run(values as never, this.#c as never) }
    if (!this.#results.has(run)) this.#results.set(run, outcome)
    return outcome
  }

  async #parse(source: Source, inputs: Inputs): Promise<Outcome> {
    const names = new Map<unknown, string>()
    const given: Record<string, unknown> = {}
    for (const { key, name, also, type } of entriesOf(source, [inputs])) {
      const values = await this.#values(source, name, also)
      // Of a repeated scalar the last value counts. An empty form field counts as absent.
      const value = type === 'array' && values.length > 0 ? values : values.at(-1)
      if (value !== undefined && !(source === 'form' && value === '')) given[key] = value
      names.set(key, name)
    }
    return this.#checked(source, v.object(inputs[source] ?? {}), given, names)
  }

  async #values(source: Source, name: string, also?: string): Promise<readonly unknown[]> {
    const { req } = this.#c
    if (source === 'path') return [req.param(name)]
    if (source === 'header') return this.#headers(name, also)
    if (source === 'cookie') return cookieValues(this.#headers('cookie').join(';'), name)
    if (source === 'form') return (await this.#readForm()).values.get(name) ?? []
    return new URLSearchParams(req.url.slice(`${req.url}?`.indexOf('?'))).getAll(name)
  }

  /** `Headers` would join the values of a repeated header, so Node's own list is read. */
  #headers(name: string, also?: string): string[] {
    const raw = this.#c.env?.incoming?.rawHeaders ?? Object.entries(this.#c.req.header()).flat()
    const found = raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === name)
    return also && found.length === 0 ? this.#headers(also) : found
  }

  /** A body is read once: for all that the whole route asks for. */
  async #readForm(): Promise<Form> {
    if (this.#form) return this.#form
    const fields = entriesOf('form', inputsOf(matchedRoutes(this.#c)))
    const types = new Map(fields.map(({ name, type }) => [name, type]))
    this.#form = new Form()
    await this.#form.read(types, this.#chunks(), this.#c.req.header('content-type'))
    return this.#form
  }

  async #body(schema: v.GenericSchema): Promise<Outcome> {
    const json = await readJson(this.#chunks(), this.#c.req.header('content-type'))
    if ('type' in json) return this.refusal.report(json)
    // Valibot's own object takes a list, too.
    const notList = v.custom(value => value instanceof Object && !Array.isArray(value), 'object')
    return this.#checked('body', v.pipe(notList, schema), json.value)
  }

  #checked(source: string, schema: v.GenericSchema, given: unknown, names?: Map<unknown, string>) {
    const { issues, output, success } = v.safeParse(schema, given, { abortPipeEarly: true })
    for (const issue of issues ?? []) this.refusal.add(source, issue, names)
    return success ? { value: output } : undefined
  }

  /** The body from Node's own stream: the web stream over it reads ahead without a bound. */
  #chunks(): Chunks {
    const { env, req } = this.#c
    // It stays open when reading stops early: the answer needs the connection.
    const stream = env?.incoming?.iterator({ destroyOnReturn: false }) ?? req.raw.body
    return stream ?? new Blob([]).stream()
  }
}

// As the client sent it, less its quotes (`"a\"b"` is `a"b`, `"a\054b"` is `a,b`): Hono's `getCookie`
// undoes percent-encoding and drops values with a quote or a non-ASCII letter.
function cookieValues(header: string, name: string): string[] {
  return header.split(';').flatMap(pair => {
    const [key = '', ...rest] = pair.split('=')
    if (key.trim() !== name || rest.length === 0) return []
    const value = rest.join('=').trim()
    return /^".*"$/s.test(value) ? undoEscapes(value.slice(1, -1)) : value
  })
}

function undoEscapes(text: string): string {
  return text.replace(/\\([0-3][0-7]{2})|\\(.)/gs, (_, octal?: string, letter = '') =>
    octal === undefined ? letter : String.fromCharCode(Number.parseInt(octal, 8)),
  )
}
