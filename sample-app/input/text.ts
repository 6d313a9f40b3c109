import * as v from 'valibot'
import type { Kind } from './kind.ts'
import type { ProblemType } from './problem.ts'
import type { Rules } from './rules.ts'

/** Text. Length is checked before the pattern, and only the first objection is reported. */
export const text: Kind<string> = { takes: 'text', fromText: textSchema, fromJson: textSchema, jsonSchema }

/** Every value of a repeated parameter, in request order; one value is a list of one. */
export const textList: Kind<string[]> = {
  takes: 'texts',
  fromText: listSchema,
  fromJson: listSchema,
  jsonSchema: rules => ({ type: 'array', items: jsonSchema(rules) }),
}

function textSchema({ min_length, max_length, pattern }: Rules): v.GenericSchema<unknown, string> {
  const checks: v.GenericPipeAction<string>[] = []
  if (min_length !== undefined) checks.push(v.minCodePoints(min_length, 'string_too_short' satisfies ProblemType))
  if (max_length !== undefined) checks.push(v.maxCodePoints(max_length, 'string_too_long' satisfies ProblemType))
  if (pattern !== undefined) {
    checks.push(v.regex(new RegExp(pattern, 'u'), 'string_pattern_mismatch' satisfies ProblemType))
  }
  return v.pipe(v.pipe(v.unknown(), v.string('string_type' satisfies ProblemType)), ...checks)
}

function listSchema(rules: Rules): v.GenericSchema<unknown, string[]> {
  return v.pipe(v.unknown(), v.array(textSchema(rules), 'list_type' satisfies ProblemType))
}

function jsonSchema({ min_length, max_length, pattern }: Rules) {
  return {
    type: 'string',
    ...(max_length !== undefined && { maxLength: max_length }),
    ...(min_length !== undefined && { minLength: min_length }),
    ...(pattern !== undefined && { pattern }),
  }
}
