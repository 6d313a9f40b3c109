import type * as v from 'valibot'

/** Any schema of valibot. */
export type Schema = v.GenericSchema

/** What a route takes and returns; its handler uses the same schemas. */
export interface Operation {
  readonly summary: string
  readonly query?: v.ObjectSchema<v.ObjectEntries, undefined>
  readonly body?: Content
  readonly answer: Content
}

/** JSON by a schema, or bytes of another type. */
export type Content =
  | { readonly schema: Schema }
  | { readonly contentType: string; readonly description: string; readonly format?: 'binary' }

/** `GET /path/{name}` → its operation. */
export type Operations = Readonly<Record<string, Operation>>
