import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** A number, from text as in Python (`.5`, `5.`, `1e1`, `inf`, `nan`) or from JSON; true is 1. */
export const float = v.pipe(
  v.unknown(),
  v.rawTransform<unknown, number>(({ dataset: { value }, addIssue, NEVER }) => {
    if (typeof value === 'number' || typeof value === 'boolean') return Number(value)
    const text = typeof value === 'string' ? value.trim() : undefined
    if (text !== undefined && DECIMAL.test(text)) return Number(text)
    const [, sign, name] = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(text ?? '') ?? []
    if (name !== undefined) return /^n/i.test(name) ? Number.NaN : Number(`${sign}Infinity`)
    addIssue({ message: text === undefined ? 'number' : 'float_parsing' })
    return NEVER
  }),
  v.metadata({ type: 'number' }),
)

// JSON cannot answer with `inf` and `nan`: `v.finite` refuses what the bounds let through.
const ItemId = v.pipe(float, v.ltValue(10.5), v.minValue(0.5), v.finite())

export const app = new Hono().get('/items/:item_id', ask({ path: { item_id: ItemId } }), c => {
  return c.json({ item_id: c.var.path.item_id })
})

export const about = 'Bounds for numbers that need not be whole.'
export const request = '/items/0.4'
