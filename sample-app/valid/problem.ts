import { HTTPException } from 'hono/http-exception'
import type { BaseIssue } from 'valibot'

export type Problem = { type: string; loc: unknown[]; msg: string; input: unknown; ctx?: object }

/** A 422 that has its answer with it: an app needs no error handler for it. */
export class ValidationError extends HTTPException {
  constructor(detail: readonly Problem[]) {
    super(422, { message: 'Validation failed', res: Response.json({ detail }, { status: 422 }) })
  }
}

// By Valibot's name of a rule: the words of a problem, its type, and the name of its limit.
const RULES = `missing = Field required | missing
extra = Extra inputs are not permitted | extra_forbidden
object = Input should be a valid dictionary or object to extract fields from | model_attributes_type
array = Input should be a valid list | list_type
string = Input should be a valid string | string_type
safe_integer = Unable to parse input string as an integer, exceeded maximum size | int_parsing_size
number = Input should be a valid number | float_type
min_code_points = String should have at least {} characters | string_too_short | min_length
max_code_points = String should have at most {} characters | string_too_long | max_length
regex = String should match pattern '{}' | string_pattern_mismatch | pattern
min_value = Input should be greater than or equal to {} | greater_than_equal | ge
gt_value = Input should be greater than {} | greater_than | gt
max_value = Input should be less than or equal to {} | less_than_equal | le
lt_value = Input should be less than {} | less_than | lt`
const WORDS = new Map(RULES.split('\n').map(line => line.split(' = ') as [string, string]))
const WORDED = /^(.*?) \| (\w+)(?: \| (\w+))?$/s

/** Valibot's words where a schema has no message of its own. */
export function wordsOf({ type, expected, input, message }: BaseIssue<unknown>): string {
  const kind = input === undefined ? 'missing' : /object|record/.test(type) ? 'object' : type
  return WORDS.get(expected === 'never' ? 'extra' : kind) ?? message
}

/** A problem in a part of a request; among alternatives, the one that came furthest reports it. */
export function problemOf(target: string, issue: BaseIssue<unknown>): Problem {
  const { message, path = [], input, requirement, issues: inner = [] } = issue
  const next = inner.find(({ kind, path }) => path || kind !== 'schema') ?? inner[0]
  if (next) return problemOf(target, Object.assign(next, { path: [...path, ...(next.path ?? [])] }))
  const limit = requirement instanceof RegExp ? requirement.source : requirement
  const [, text = message, type = 'value_error', name] = WORDED.exec(message) ?? []
  const msg = text.replace('{}', () => String(limit)).replace(/ 1 characters$/, ' 1 character')
  const loc = [/json|form/.test(target) ? 'body' : target.replace('param', 'path')]
  // As it was sent, before any step of a pipe; for a missing key, the object without it.
  const place = path.at(-1) ?? { input: null, value: input }
  const sent = type !== 'missing' ? place.value : target === 'json' ? place.input : null
  const ctx = name && { ctx: { [name]: limit ?? {} } }
  return { type, loc: [...loc, ...path.map(({ key }) => key)], msg, input: sent ?? null, ...ctx }
}
