import type { Rules } from './rules.ts'

/** One element of the `detail` list of a 422. */
export interface Problem {
  readonly type: string
  /** Where: the source (`path query header cookie body`), then the name on the wire or an offset. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  /** What was received, unconverted; null for a parameter that is missing. */
  readonly input: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}

type Wording = (rules: Rules) => Pick<Problem, 'msg' | 'ctx'>

/**
 * Every objection there is. The schemas of the kinds use these names as their Valibot messages, so one table turns any
 * Valibot issue into what a client reads.
 */
const wordings = {
  missing: () => ({ msg: 'Field required' }),
  int_parsing: () => ({ msg: 'Input should be a valid integer, unable to parse string as an integer' }),
  int_parsing_size: () => ({ msg: 'Unable to parse input string as an integer, exceeded maximum size' }),
  int_type: () => ({ msg: 'Input should be a valid integer' }),
  float_parsing: () => ({ msg: 'Input should be a valid number, unable to parse string as a number' }),
  float_type: () => ({ msg: 'Input should be a valid number' }),
  finite_number: () => ({ msg: 'Input should be a finite number' }),
  bool_parsing: () => ({ msg: 'Input should be a valid boolean, unable to interpret input' }),
  bool_type: () => ({ msg: 'Input should be a valid boolean' }),
  list_type: () => ({ msg: 'Input should be a valid list' }),
  string_type: () => ({ msg: 'Input should be a valid string' }),
  string_too_short: ({ min_length = 0 }: Rules) => ({
    msg: `String should have at least ${characters(min_length)}`,
    ctx: { min_length },
  }),
  string_too_long: ({ max_length = 0 }: Rules) => ({
    msg: `String should have at most ${characters(max_length)}`,
    ctx: { max_length },
  }),
  string_pattern_mismatch: ({ pattern = '' }: Rules) => ({
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern },
  }),
  greater_than_equal: ({ ge }: Rules) => ({ msg: `Input should be greater than or equal to ${ge}`, ctx: { ge } }),
  greater_than: ({ gt }: Rules) => ({ msg: `Input should be greater than ${gt}`, ctx: { gt } }),
  less_than_equal: ({ le }: Rules) => ({ msg: `Input should be less than or equal to ${le}`, ctx: { le } }),
  less_than: ({ lt }: Rules) => ({ msg: `Input should be less than ${lt}`, ctx: { lt } }),
  model_attributes_type: () => ({ msg: 'Input should be a valid dictionary or object to extract fields from' }),
  value_error: () => ({ msg: "Value error, Expected UploadFile, received: <class 'str'>", ctx: { error: {} } }),
} satisfies Record<string, Wording>

/** The name of an objection, and the message of every Valibot schema here. */
export type ProblemType = keyof typeof wordings

/** Words an objection to a value that was declared with `rules`. */
export function problem(type: ProblemType, loc: Problem['loc'], input: unknown, rules: Rules = {}): Problem {
  const wording: Wording = wordings[type]
  const { msg, ctx } = wording(rules)
  return { type, loc, msg, input, ...(ctx && { ctx }) }
}

/** The objection to a body that is not JSON. */
export function jsonInvalid(offset: number, expected: string): Problem {
  return { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error: expected } }
}

/** Whether a Valibot message is one of ours; any other means a schema was declared without one. */
export function isProblemType(message: string): message is ProblemType {
  return Object.hasOwn(wordings, message)
}

/** Ends a request with 422; holds everything that was wrong, in the order it is reported. */
export class ValidationError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(`${problems.length} invalid inputs`)
    this.problems = problems
  }
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`
}
