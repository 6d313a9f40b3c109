import * as v from 'valibot'
import type { Kind } from './kind.ts'
import { boundChecks, boundKeywords } from './number-bounds.ts'
import type { ProblemType } from './problem.ts'
import type { Rules } from './rules.ts'

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** Apart from the decimal, because a repeated group runs out of stack on a text of some MiB. */
const STRAY_UNDERSCORE = /(?<!\d)_|_(?!\d)/
const NAMED = /^([+-]?)(?:(inf|infinity)|nan)$/i

/**
 * A number: decimal digits with an optional fraction and exponent (`.5`, `5.`, `1e1`, `1_0`), surrounding blanks ignored.
 * `inf` and `nan` are numbers, but JSON cannot answer with them, so what is not finite is refused last.
 * From JSON also a text of that form, and `true` and `false` as 1 and 0.
 */
export const float: Kind<number> = {
  takes: 'text',
  fromText: floatSchema,
  fromJson: floatSchema,
  jsonSchema: rules => ({ type: 'number', ...boundKeywords(rules) }),
}

function floatSchema(rules: Rules): v.GenericSchema<unknown, number> {
  return v.pipe(v.pipe(v.unknown(), converted), ...boundChecks<number>(rules), finite)
}

const finite = v.check<number, ProblemType>(Number.isFinite, 'finite_number')

const converted = v.rawTransform<unknown, number>(({ dataset: { value }, addIssue, NEVER }) => {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return Number(value)
  const number = typeof value === 'string' ? parseFloatText(value.trim()) : undefined
  if (number !== undefined) return number
  addIssue({ message: (typeof value === 'string' ? 'float_parsing' : 'float_type') satisfies ProblemType })
  return NEVER
})

function parseFloatText(text: string): number | undefined {
  const digits = STRAY_UNDERSCORE.test(text) ? text : text.replaceAll('_', '')
  if (DECIMAL.test(digits)) return Number(digits)
  const [named, sign, infinite] = NAMED.exec(text) ?? []
  if (named === undefined) return undefined
  if (infinite === undefined) return Number.NaN
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}
