import * as v from 'valibot'

// Words, and the type of a problem, after a bar: see `valid/README.md`.
const INTEGER =
  'Input should be a valid integer, unable to parse string as an integer | int_parsing'
const FLOAT = 'Input should be a valid number, unable to parse string as a number | float_parsing'

const digits = v.regex(/^[+-]?\d+$/, INTEGER)
/** Text to a whole number, step by step: `v.toNumber()` alone would take `0x10`, `1e3` and ``. */
export const integer = v.pipe(v.string(), v.trim(), digits, v.toNumber(), v.safeInteger())

const decimal = v.regex(/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i, FLOAT)
/** Text to a number, with a fraction and an exponent (`.5`, `5.`, `1e1`) or without. */
export const float = v.pipe(v.string(), v.trim(), decimal, v.toNumber())
