import { HTTPException } from 'hono/http-exception'
import type * as v from 'valibot'

export type Schema = v.GenericSchema | v.GenericSchemaAsync
export type Problem = { type: string; loc: unknown[]; msg: string; input: unknown; ctx?: object }
type Issue = v.BaseIssue<unknown>
const SOURCES: Record<string, string> = { param: 'path', json: 'body', form: 'body' }

/** A 422 that has its answer with it: an app needs no error handler for it. */
export class ValidationError extends HTTPException {
  constructor(detail: readonly Problem[]) {
    super(422, { message: 'Validation failed', res: Response.json({ detail }, { status: 422 }) })
  }
}

// By Valibot's name of a rule, or the message that a schema gives it: the kind of problem, its
// words with `{}` for what is required, and the name of that.
const RULES = new Map(
  `missing | missing | Field required
extra | extra_forbidden | Extra inputs are not permitted
object | model_attributes_type | Input should be a valid dictionary or object to extract fields from
array | list_type | Input should be a valid list
string | string_type | Input should be a valid string
number | float_type | Input should be a valid number
finite | finite_number | Input should be a finite number
int_parsing | int_parsing | Input should be a valid integer, unable to parse string as an integer
safe_integer | int_parsing_size | Unable to parse input string as an integer, exceeded maximum size
float_parsing | float_parsing | Input should be a valid number, unable to parse string as a number
parse_boolean | bool_parsing | Input should be a valid boolean, unable to interpret input
min_code_points | string_too_short | String should have at least {} characters | min_length
max_code_points | string_too_long | String should have at most {} characters | max_length
regex | string_pattern_mismatch | String should match pattern '{}' | pattern
min_value | greater_than_equal | Input should be greater than or equal to {} | ge
gt_value | greater_than | Input should be greater than {} | gt
max_value | less_than_equal | Input should be less than or equal to {} | le
lt_value | less_than | Input should be less than {} | lt
file | value_error | Value error, Expected UploadFile, received: <class 'str'> | error`
    .split('\n')
    .map(line => [line.slice(0, line.indexOf(' |')), line.split(' | ').slice(1)] as const),
)

/** What Valibot says: the name of a rule above, where a schema has no words of its own. */
export function nameOf({ type, expected, input, message }: Issue): string {
  if (expected === 'never') return 'extra'
  const name = input === undefined ? 'missing' : type.includes('object') ? 'object' : type
  return RULES.has(name) ? name : message
}

/** What is wrong with a part of a request, by the issues of Valibot. */
export function problemsOf(target: string, issues: readonly Issue[]) {
  return issues.map(furthest).map(({ message, path = [], input, requirement: rule }): Problem => {
    const [type = 'value_error', text = message, limit] = RULES.get(message) ?? []
    const required = rule instanceof RegExp ? rule.source : rule
    const place = path.at(-1)
    // As it was sent, before any step of a pipe; where it is missing, what it is missing in.
    const around = target === 'json' ? place?.input : null
    const sent = message === 'missing' ? around : place ? place.value : input
    return {
      type,
      loc: [SOURCES[target] ?? target, ...path.map(({ key }) => key)],
      msg: text.replace('{}', () => String(required)).replace(/ 1 characters$/, ' 1 character'),
      input: sent ?? null,
      ...(limit && { ctx: { [limit]: required ?? {} } }),
    }
  })
}

/** The first issue of the alternative that came furthest. */
function furthest(issue: Issue): Issue {
  const { issues: inner = [], path = [] } = issue
  const one = inner.find(({ kind, path }) => path || kind !== 'schema') ?? inner[0]
  return one ? furthest({ ...one, path: [...path, ...(one.path ?? [])] } as Issue) : issue
}
