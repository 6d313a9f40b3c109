import * as v from 'valibot'
import { type Defaulted, declared, type OrNull } from './declared.ts'
import type { Body, Declared, Model } from './input.ts'
import type { Kind } from './kind.ts'
import type { ProblemType } from './problem.ts'

type Fields = Readonly<Record<string, Declared<unknown>>>
type ModelValue<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Declared<infer T> ? T : never }

/** Declares a field of a model; without a `default` it is required, with `default: null` it may be null. */
export function field<T, const D extends T | null | undefined = undefined>(
  kind: Kind<T>,
  declaration: Defaulted<D> = {},
): Declared<OrNull<T, D>> {
  return declared(kind, declaration, 'json')
}

/** Declares a JSON object. Unknown keys are dropped, defaults filled in. */
export function model<F extends Fields>(name: string, fields: F): Model<ModelValue<F>> {
  const entries = Object.entries(fields).map(([key, one]) => [
    key,
    one.default ? v.optional(one.schema, one.default.value) : one.schema,
  ])
  const schema = v.pipe(
    v.unknown(),
    v.custom<Record<string, unknown>>(isObject, 'model_attributes_type' satisfies ProblemType),
    v.object(Object.fromEntries(entries), 'missing' satisfies ProblemType),
  )
  return { name, fields, schema: schema as v.GenericSchema<unknown, ModelValue<F>> }
}

/** Declares that a model is read from the JSON body. */
export function body<T>(model: Model<T>): Body<T> {
  return { role: 'body', model }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
