import type { Context } from 'hono'
import type { GenericSchema } from 'valibot'
import type { IncomingRequest } from '../wire/incoming-request.ts'
import type { SampleEnv } from '../wire/target.ts'
import type { Kind } from './kind.ts'
import type { Declaration } from './rules.ts'

/** What an operation or a dependency asks for, by the names it uses itself. */
export type Inputs = Readonly<Record<string, Input>>

/** One thing asked for. */
export type Input = Parameter<unknown> | Body<unknown> | Credential<unknown> | Use<unknown>

/** Where a parameter comes from. */
export type Source = 'path' | 'query' | 'header' | 'cookie' | 'form'

/** A declared value: its kind, its constraints and what takes its place when it is absent. */
export interface Declared<T> {
  readonly kind: Kind<unknown>
  readonly schema: GenericSchema<unknown, T>
  readonly declaration: Declaration
  /** Absent for what is required. */
  readonly default?: { readonly value: T }
}

/** A value from the path, the query, a header, a cookie or a form field. */
export interface Parameter<T> extends Declared<T> {
  readonly role: 'parameter'
  readonly source: Source
}

/** A named JSON object and its fields. */
export interface Model<T> {
  readonly name: string
  readonly schema: GenericSchema<unknown, T>
  readonly fields: Readonly<Record<string, Declared<unknown>>>
}

/** The JSON body. */
export interface Body<T> {
  readonly role: 'body'
  readonly model: Model<T>
}

/** Something that tells who is calling; throws an HTTP error where that cannot be told. */
export interface Credential<T> {
  readonly role: 'credential'
  readonly scheme: string
  readonly definition: Readonly<Record<string, unknown>>
  read(request: IncomingRequest): T
}

/** A piece of work that needs inputs of its own and runs before the handler. Its identity is its name in the cache. */
export interface Dependency<T> {
  readonly inputs: Inputs
  run(values: Readonly<Record<string, unknown>>, context: Context<SampleEnv>): T | Promise<T>
}

/** A dependency at one place where it is needed. */
export interface Use<T> {
  readonly role: 'dependency'
  readonly dependency: Dependency<T>
  readonly use_cache: boolean
}

/** The values that inputs turn into. */
export type Values<I extends Inputs> = { readonly [K in keyof I]: ValueOf<I[K]> }

type ValueOf<X> =
  X extends Parameter<infer T>
    ? T
    : X extends Body<infer T>
      ? T
      : X extends Credential<infer T>
        ? T
        : X extends Use<infer T>
          ? T
          : never
