import type { Context, Env, MiddlewareHandler, ValidationTargets } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { validator } from 'hono/validator'
import * as v from 'valibot'
import { named, readJson } from './parts.ts'
import { type Problem, problemOf, ValidationError, wordsOf } from './problem.ts'

export type Schema = v.GenericSchema | v.GenericSchemaAsync
type Both<T extends string, I, O> = { in: { [K in T]: I }; out: { [K in T]: O } }
type ValidPart<T extends string, S extends Schema> = Both<T, v.InferInput<S>, v.InferOutput<S>>

/** The part that each middleware of `valid` checks, for descriptions of apps. */
export const declared = new WeakMap<object, { target: string; schema: Schema }>()
const faults = new WeakMap<Context, Problem[]>()
const onError = (c: Context) => c.json({ detail: 'Request body too large' }, 413)
const limited = bodyLimit({ maxSize: 1024 * 1024, onError })

/** Checks one part of a request; problems wait for `complete`. A body has at most 1 MiB. */
export function valid<T extends keyof ValidationTargets, S extends Schema>(target: T, schema: S) {
  const add = (c: Context, ...more: Problem[]) => faults.set(c, (faults.get(c) ?? []).concat(more))
  const check = async (c: Context, input: unknown, abortEarly = false) => {
    const settings = { abortEarly, abortPipeEarly: true, message: wordsOf }
    const { issues, output } = await v.safeParseAsync(schema, input, settings)
    if (issues) add(c, ...issues.map(issue => problemOf(target, issue)))
    return (issues ? undefined : output) as object
  }
  const readPart = validator(target, (value, c) => check(c, named(target, schema as object, value)))
  // By itself `hono/validator` ends a request whose JSON is broken or absent.
  const readBody: MiddlewareHandler = async (c, next) => {
    const [type = '', bytes] = [c.req.header('Content-Type'), await c.req.arrayBuffer()]
    const { value, problem, abortEarly } = readJson(type, bytes, schema as object)
    if (problem) add(c, problem)
    else c.req.addValidatedData(target, await check(c, value, abortEarly))
    await next()
  }
  const middleware: MiddlewareHandler<Env, string, ValidPart<T, S>> = (c, next) => {
    const cache = target === 'json' ? 'arrayBuffer' : target === 'form' && 'formData'
    const read = () => (target === 'json' ? readBody(c, next) : readPart(c, next)) as Promise<void>
    return cache && !(cache in c.req.bodyCache) ? limited(c, read) : read()
  }
  declared.set(middleware, { target, schema })
  return middleware
}

/** Stands behind the last `valid`: ends a request with any problems in one 422 with all of them. */
export const complete: MiddlewareHandler = async (c, next) => {
  const problems = faults.get(c)
  if (problems) throw new ValidationError(problems)
  await next()
}
