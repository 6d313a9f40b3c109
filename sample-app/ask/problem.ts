import type { BaseIssue } from 'valibot'

/** One element of the `detail` list of a 422. */
export interface Problem {
  readonly type: string
  /** A source or `body`, then the name or an offset. */
  readonly loc: readonly unknown[]
  readonly msg: string
  readonly input: unknown
  readonly ctx?: object
}

// By Valibot's name of what is wrong, or the message of a schema of our own: the type, the wording
// with `{}` in the place of what is required, and how that is called.
const WORDING = new Map(
  `
key | missing | Field required
object | model_attributes_type | Input should be a valid dictionary or object to extract fields from
string | string_type | Input should be a valid string
number | float_type | Input should be a valid number
finite | finite_number | Input should be a finite number
int_parsing | = | Input should be a valid integer, unable to parse string as an integer
int_parsing_size | = | Unable to parse input string as an integer, exceeded maximum size
float_parsing | = | Input should be a valid number, unable to parse string as a number
bool_parsing | = | Input should be a valid boolean, unable to interpret input
min_code_points | string_too_short | String should have at least {} characters | min_length
max_code_points | string_too_long | String should have at most {} characters | max_length
regex | string_pattern_mismatch | String should match pattern '{}' | pattern
min_value | greater_than_equal | Input should be greater than or equal to {} | ge
gt_value | greater_than | Input should be greater than {} | gt
max_value | less_than_equal | Input should be less than or equal to {} | le
lt_value | less_than | Input should be less than {} | lt
instance | value_error | Value error, Expected UploadFile, received: <class 'str'> | error`
    .split('\n')
    .map(line => line.split(' | '))
    .map(([name, ...wording]) => [name, wording] as const),
)

/** Ends a request with 422; holds everything that was wrong, one problem per place. */
export class ValidationError extends Error {
  readonly problems = new Map<string, Problem>()

  report(problem: Problem): undefined {
    this.problems.set(JSON.stringify(problem.loc), problem)
  }

  /** Takes in what Valibot objects to; `names` are those on the wire, where they differ. */
  add(source: string, issue: BaseIssue<unknown>, names = new Map<unknown, string>()): void {
    const path = issue.path ?? []
    const place = path.at(-1)
    const isMissing = place?.origin === 'key'
    const name = isMissing ? 'key' : WORDING.has(issue.message) ? issue.message : issue.type
    const [type = '=', msg = issue.message, limit] = WORDING.get(name) ?? []
    const { requirement: rule } = issue
    const required = rule instanceof RegExp ? rule.source : rule
    const text = msg.replace('{}', () => String(required))
    const absent = source === 'body' ? place?.input : null
    // What was received, before any step of a pipe converted it.
    const input = place ? place.value : issue.input
    this.report({
      type: type === '=' ? name : type,
      loc: [source === 'form' ? 'body' : source, ...path.map(({ key }) => names.get(key) ?? key)],
      msg: required === 1 ? text.replace('characters', 'character') : text,
      input: isMissing ? absent : input,
      ...(limit && { ctx: { [limit]: required ?? {} } }),
    })
  }
}
