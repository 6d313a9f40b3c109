import * as v from 'valibot'
import type { Kind } from './kind.ts'
import { boundChecks, boundKeywords } from './number-bounds.ts'
import type { ProblemType } from './problem.ts'

/** A whole number of any size: a bigint where a number could not hold it exactly. */
export type Integer = number | bigint

/** The most digits that are read; converting text to a number takes time quadratic in its length. */
export const DIGIT_LIMIT = 4300

const converted = v.rawTransform<string, Integer>(({ dataset, addIssue, NEVER }) => {
  const [, sign, written] = /^([+-]?)(\d+)$/.exec(dataset.value.trim()) ?? []
  if (written === undefined) {
    addIssue({ message: 'int_parsing' satisfies ProblemType })
    return NEVER
  }
  const digits = written.replace(/^0+(?=\d)/, '')
  if (digits.length > DIGIT_LIMIT) {
    addIssue({ message: 'int_parsing_size' satisfies ProblemType })
    return NEVER
  }
  const exact = BigInt(digits) * (sign === '-' ? -1n : 1n)
  const number = Number(exact)
  return Number.isSafeInteger(number) ? number : exact
})

const parsed = v.pipe(v.unknown(), v.string('int_parsing' satisfies ProblemType), converted)
const whole = v.custom<Integer>(
  value => typeof value === 'bigint' || Number.isInteger(value),
  'int_type' satisfies ProblemType,
)

/** A whole number: an optional sign and decimal digits, nothing of what `Number()` takes besides (`0x10`, `1e3`, ``). */
export const integer: Kind<Integer> = {
  takes: 'text',
  fromText: rules => v.pipe(parsed, ...boundChecks<Integer>(rules)),
  fromJson: rules => v.pipe(whole, ...boundChecks<Integer>(rules)),
  jsonSchema: rules => ({ type: 'integer', ...boundKeywords(rules) }),
}
