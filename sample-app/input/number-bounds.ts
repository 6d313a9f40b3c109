import * as v from 'valibot'
import type { ProblemType } from './problem.ts'
import type { Rules } from './rules.ts'

/** The Valibot checks for the declared bounds of a number; JavaScript compares a bigint with a number exactly. */
export function boundChecks<T extends number | bigint>({ ge, gt, le, lt }: Rules): v.GenericPipeAction<T>[] {
  const checks: v.GenericPipeAction<T>[] = []
  if (le !== undefined) checks.push(v.maxValue<T, T, ProblemType>(le as T, 'less_than_equal'))
  if (lt !== undefined) checks.push(v.ltValue<T, T, ProblemType>(lt as T, 'less_than'))
  if (ge !== undefined) checks.push(v.minValue<T, T, ProblemType>(ge as T, 'greater_than_equal'))
  if (gt !== undefined) checks.push(v.gtValue<T, T, ProblemType>(gt as T, 'greater_than'))
  return checks
}

/** The same bounds in JSON Schema. */
export function boundKeywords({ ge, gt, le, lt }: Rules) {
  return {
    ...(le !== undefined && { maximum: le }),
    ...(lt !== undefined && { exclusiveMaximum: lt }),
    ...(ge !== undefined && { minimum: ge }),
    ...(gt !== undefined && { exclusiveMinimum: gt }),
  }
}
