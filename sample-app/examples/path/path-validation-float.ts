import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** Apart from the decimal: a repeated group runs out of stack on a text of some MiB. */
const STRAY_UNDERSCORE = /(?<!\d)_|_(?!\d)/
const NAMED = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
])

/**
 * A number: digits with an optional fraction and exponent (`.5`, `5.`, `1e1`, `1_0`), `inf` or
 * `nan`; from JSON also a number, and `true` as 1.
 */
export const float = v.pipe(
  v.unknown(),
  v.rawTransform<unknown, number>(({ dataset: { value }, addIssue, NEVER }) => {
    if (typeof value === 'number' || typeof value === 'boolean') return Number(value)
    const number = typeof value === 'string' ? parse(value.trim()) : undefined
    if (number !== undefined) return number
    addIssue({ message: typeof value === 'string' ? 'float_parsing' : 'number' })
    return NEVER
  }),
  v.metadata({ type: 'number' }),
)

function parse(text: string): number | undefined {
  const digits = STRAY_UNDERSCORE.test(text) ? text : text.replaceAll('_', '')
  if (DECIMAL.test(digits)) return Number(digits)
  const [, sign, name = ''] = /^([+-]?)([a-z]{3,8})$/i.exec(text) ?? []
  const number = NAMED.get(name.toLowerCase())
  return number && sign === '-' ? -number : number
}

// `inf` and `nan` are numbers in the text of a path, but JSON cannot answer with them: `v.finite`
// refuses what the bounds let through.
const ItemId = v.pipe(float, v.ltValue(10.5), v.minValue(0.5), v.finite())

export const app = new Hono().get('/items/:item_id', ask({ path: { item_id: ItemId } }), c => {
  return c.json({ item_id: c.var.path.item_id })
})

export const about = 'Bounds for numbers that need not be whole.'
export const request = '/items/0.4'
