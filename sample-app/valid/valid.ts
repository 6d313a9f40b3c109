import type { Context, Env, MiddlewareHandler, ValidationTargets } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { validator } from 'hono/validator'
import * as v from 'valibot'
import { named, readJson } from './parts.ts'
import { nameOf, type Problem, problemsOf, type Schema, ValidationError } from './problem.ts'

type Target = keyof ValidationTargets
type Typed<T extends Target, S extends Schema> = {
  in: { [K in T]: v.InferInput<S> }
  out: { [K in T]: v.InferOutput<S> }
}

/** What each middleware made by `valid` checks, for whoever describes an app. */
export const declared = new WeakMap<object, { target: Target; schema: Schema }>()
const found = new WeakMap<Context, readonly Problem[]>()
const onError = (c: Context) => c.json({ detail: 'Request body too large' }, 413)
const limited = bodyLimit({ maxSize: 1024 * 1024, onError })

/** Checks one part of a request; what is wrong waits for `complete`. A body has at most 1 MiB. */
export function valid<T extends Target, S extends Schema>(target: T, schema: S) {
  const check = async (c: Context, input: unknown, abortEarly = false) => {
    const settings = { abortEarly, abortPipeEarly: true, message: nameOf }
    const { issues = [], output, success } = await v.safeParseAsync(schema, input, settings)
    note(c, problemsOf(target, issues))
    return (success ? output : undefined) as object
  }
  const readPart = validator(target, (value, c) => check(c, named(target, schema as object, value)))
  // By itself `hono/validator` ends a request whose JSON is broken or absent.
  const readBody: MiddlewareHandler = async (c, next) => {
    const { value, problem, abortEarly } = await readJson(c, schema as object)
    if (problem) note(c, [problem])
    else c.req.addValidatedData(target, await check(c, value, abortEarly))
    await next()
  }
  const read: MiddlewareHandler = target === 'json' ? readBody : readPart
  const middleware: MiddlewareHandler<Env, string, Typed<T, S>> = (c, next) => {
    const isUnread = /json|form/.test(target) && Object.keys(c.req.bodyCache).length === 0
    return isUnread ? limited(c, () => read(c, next) as Promise<void>) : read(c, next)
  }
  declared.set(middleware, { target, schema })
  return middleware
}

/** Stands behind the last `valid`: ends a request with anything wrong in one 422 with all of it. */
export const complete = createMiddleware(async (c, next) => {
  const problems = found.get(c)
  if (problems) throw new ValidationError(problems)
  await next()
})

function note(c: Context, problems: readonly Problem[]): void {
  if (problems.length > 0) found.set(c, [...(found.get(c) ?? []), ...problems])
}
