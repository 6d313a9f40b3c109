import * as v from 'valibot'
import type { FormValue } from '../form/form-fields.ts'
import { UploadFile } from '../form/upload-file.ts'
import type { IncomingRequest } from '../wire/incoming-request.ts'
import type { Body, Dependency, Input, Inputs, Parameter, Source, Use, Values } from './input.ts'
import { wireName } from './parameter.ts'
import { isProblemType, jsonInvalid, type Problem, problem, ValidationError } from './problem.ts'
import type { Rules } from './rules.ts'

/** The order in which the sources of one level are read and their problems reported. */
const ORDER: readonly Source[] = ['path', 'query', 'header', 'cookie', 'form']

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

/**
 * Turns declared inputs into values: dependencies first, in the order they are declared, then path, query, header, cookie
 * and body. Everything that is wrong is collected; an HTTP error thrown by a dependency ends it at once.
 * @throws ValidationError naming every problem, one per field
 */
export async function resolve<I extends Inputs>(inputs: I, request: IncomingRequest): Promise<Values<I>> {
  const resolution = new Resolution(request)
  const values = await resolution.read(inputs)
  if (!values) throw new ValidationError(resolution.problems)
  return values as Values<I>
}

class Resolution {
  readonly #request: IncomingRequest
  readonly #results = new Map<Dependency<unknown>, Outcome>()
  readonly #problems = new Map<string, Problem>()

  constructor(request: IncomingRequest) {
    this.#request = request
  }

  get problems(): Problem[] {
    return [...this.#problems.values()]
  }

  /** The values of all inputs, or undefined when one of them has a problem; the others have been read all the same. */
  async read(inputs: Inputs): Promise<Record<string, unknown> | undefined> {
    const values: [string, unknown][] = []
    let complete = true
    for (const [key, input] of inReadingOrder(inputs)) {
      const outcome = await this.#input(key, input)
      if (outcome.ok) values.push([key, outcome.value])
      else complete = false
    }
    return complete ? Object.fromEntries(values) : undefined
  }

  async #input(key: string, input: Input): Promise<Outcome> {
    switch (input.role) {
      case 'dependency':
        return this.#dependency(input)
      case 'credential':
        return { ok: true, value: input.read(this.#request) }
      case 'parameter':
        return this.#parameter(key, input)
      case 'body':
        return this.#body(input)
    }
  }

  /** A dependency one of whose inputs is wrong is not run. */
  async #dependency({ dependency, use_cache }: Use<unknown>): Promise<Outcome> {
    const earlier = this.#results.get(dependency)
    if (earlier && use_cache) return earlier
    const values = await this.read(dependency.inputs)
    const outcome: Outcome = values
      ? { ok: true, value: await dependency.run(values, this.#request.context) }
      : { ok: false }
    if (!earlier) this.#results.set(dependency, outcome)
    return outcome
  }

  async #parameter(key: string, parameter: Parameter<unknown>): Promise<Outcome> {
    const name = wireName(key, parameter)
    const loc = [parameter.source === 'form' ? 'body' : parameter.source, name]
    const raw = await this.#raw(name, parameter)
    if (raw === undefined) {
      return parameter.default
        ? { ok: true, value: parameter.default.value }
        : this.#report(problem('missing', loc, null))
    }
    const parsed = v.safeParse(parameter.schema, raw, { abortPipeEarly: true })
    if (parsed.success) return { ok: true, value: parsed.output }
    return this.#report(worded(parsed.issues[0].message, loc, displayed(raw), parameter.declaration))
  }

  /** What the wire has for a parameter. Of a repeated scalar the last value counts, whatever its source. */
  async #raw(name: string, parameter: Parameter<unknown>): Promise<FormValue | readonly string[] | undefined> {
    if (parameter.source === 'form') {
      const value = (await this.#request.form()).values.get(name)
      return value === '' ? undefined : value
    }
    if (parameter.source === 'path') return this.#request.pathValue(name)
    const values = this.#texts(name, parameter)
    if (parameter.kind.takes === 'texts') return values.length > 0 ? values : undefined
    return values.at(-1)
  }

  #texts(name: string, { source, declaration }: Parameter<unknown>): readonly string[] {
    if (source === 'query') return this.#request.queryValues(name)
    if (source === 'cookie') return this.#request.cookieValues(name)
    const values = this.#request.headerValues(name)
    return values.length === 0 && declaration.also_read ? this.#request.headerValues(declaration.also_read) : values
  }

  async #body({ model }: Body<unknown>): Promise<Outcome> {
    const json = await this.#request.json()
    if (json.kind === 'invalid') return this.#report(jsonInvalid(json.problem.offset, json.problem.expected))
    if (json.kind === 'absent' || json.value === null) return this.#report(problem('missing', ['body'], null))
    const parsed = v.safeParse(model.schema, json.value, { abortPipeEarly: true })
    if (parsed.success) return { ok: true, value: parsed.output }
    for (const { message, path } of parsed.issues) {
      const key = path?.[0].key
      if (typeof key !== 'string') this.#report(worded(message, ['body'], json.value))
      else this.#report(worded(message, ['body', key], fieldInput(json.value, key), model.fields[key]?.declaration))
    }
    return { ok: false }
  }

  /** One problem per field, even when several dependencies read it. */
  #report(found: Problem): Outcome {
    this.#problems.set(JSON.stringify(found.loc), found)
    return { ok: false }
  }
}

function inReadingOrder(inputs: Inputs): [string, Input][] {
  const rank = (input: Input): number => {
    if (input.role === 'dependency' || input.role === 'credential') return -1
    return input.role === 'body' ? ORDER.length : ORDER.indexOf(input.source)
  }
  return Object.entries(inputs).sort(([, one], [, other]) => rank(one) - rank(other))
}

function worded(message: string, loc: Problem['loc'], input: unknown, rules?: Rules): Problem {
  if (!isProblemType(message)) throw new Error(`a schema for ${loc.join('.')} has no message of its own: ${message}`)
  return problem(message, loc, input, rules)
}

/** A missing field is shown as the object it is missing from. */
function fieldInput(value: unknown, key: string): unknown {
  const members = new Map(Object.entries(Object(value)))
  return members.has(key) ? members.get(key) : value
}

function displayed(raw: FormValue | readonly string[]): unknown {
  return raw instanceof UploadFile ? { filename: raw.filename, content_type: raw.content_type } : raw
}
