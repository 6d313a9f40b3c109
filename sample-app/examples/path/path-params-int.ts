import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

/** The most digits that are read: converting them takes time quadratic in their number. */
const DIGIT_LIMIT = 4300

/**
 * A Valibot schema of our own, from text to a whole number: an optional sign and decimal digits,
 * and nothing of what `Number()` takes besides (`0x10`, `1e3`, ``). Beyond 2^53 it is a bigint.
 * Its messages are names of problems in `ask/problem.ts`; the metadata is its JSON Schema.
 */
export const integer = v.pipe(
  v.unknown(),
  v.rawTransform<unknown, number | bigint>(({ dataset: { value }, addIssue, NEVER }) => {
    if (typeof value === 'number' && Number.isInteger(value)) return value
    const [, sign, digits = ''] = /^([+-]?)0*(\d+)$/.exec(String(value).trim()) ?? []
    const exact = digits !== '' && digits.length <= DIGIT_LIMIT ? BigInt(digits) : undefined
    if (exact === undefined) {
      addIssue({ message: digits === '' ? 'int_parsing' : 'int_parsing_size' })
      return NEVER
    }
    const signed = sign === '-' ? -exact : exact
    return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed
  }),
  v.metadata({ type: 'integer' }),
)

/** `JSON.stringify` takes no bigint. Behind this, all examples write one as the number it is. */
export const exactIntegers = createMiddleware(async (c, next) => {
  const mark = crypto.randomUUID()
  const marked = (_: string, one: unknown) => (typeof one === 'bigint' ? mark + one : one)
  const json = (value: unknown, status?: 200, headers?: Record<string, string>) => {
    const text = JSON.stringify(value, marked).replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
    return c.newResponse(text, status, { 'Content-Type': 'application/json', ...headers })
  }
  c.json = json as typeof c.json
  await next()
})

// `/items/5` has the item `5`; `/items/foo` is refused with 422 before the handler runs.
const inputs = ask({ path: { item_id: integer }, query: { q: v.optional(v.string()) } })

export const app = new Hono().get('/items/:item_id', inputs, c => {
  // An empty `?q=` is left out like an absent one: JSON has no undefined.
  return c.json({ item_id: c.var.path.item_id, q: c.var.query.q || undefined })
})

export const about = 'A parameter that must be a whole number.'
export const request = '/items/5?q=news'
