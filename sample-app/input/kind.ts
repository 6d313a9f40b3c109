import type { GenericSchema } from 'valibot'
import type { Rules } from './rules.ts'

/** A schema in the JSON Schema dialect of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * A kind of value: how it is read from the text of a parameter and from JSON (Valibot schemas whose messages are names of
 * problems), and how it is documented.
 */
export interface Kind<T> {
  /** How many values it takes and of what: one text (the default), every text of its name, or a file. */
  readonly takes: 'text' | 'texts' | 'file'
  fromText(rules: Rules): GenericSchema<unknown, T>
  fromJson(rules: Rules): GenericSchema<unknown, T>
  jsonSchema(rules: Rules): JsonSchema
}
