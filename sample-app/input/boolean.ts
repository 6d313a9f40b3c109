import * as v from 'valibot'
import type { Kind } from './kind.ts'
import type { ProblemType } from './problem.ts'

const SPELLINGS = new Map([
  ...['1', 'true', 't', 'yes', 'y', 'on'].map(word => [word, true] as const),
  ...['0', 'false', 'f', 'no', 'n', 'off'].map(word => [word, false] as const),
])

/** Yes or no, in any letter case. A spelling that is neither is an error, not a no. */
export const boolean: Kind<boolean> = {
  takes: 'text',
  fromText: () => v.pipe(v.unknown(), v.string('bool_parsing' satisfies ProblemType), spelled),
  fromJson: () => v.pipe(v.unknown(), v.boolean('bool_type' satisfies ProblemType)),
  jsonSchema: () => ({ type: 'boolean' }),
}

const spelled = v.rawTransform<string, boolean>(({ dataset, addIssue, NEVER }) => {
  const value = SPELLINGS.get(dataset.value.toLowerCase())
  if (value !== undefined) return value
  addIssue({ message: 'bool_parsing' satisfies ProblemType })
  return NEVER
})
