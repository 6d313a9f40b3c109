import * as v from 'valibot'

/** Text to a whole number: see `validator/path-params-int.ts`. */
const digits = v.regex(/^[+-]?\d+$/, 'int_parsing')
export const integer = v.pipe(v.string(), v.trim(), digits, v.toNumber(), v.safeInteger())
