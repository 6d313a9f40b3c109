import { randomInt } from 'node:crypto'
import { Hono } from 'hono'
import * as v from 'valibot'
import { ask, dependency, uncached } from '../../ask/ask.ts'

const randomNumber = dependency({}, () => randomInt(1, 100))

const Pair = v.pipe(v.object({ value: v.array(v.number()) }), v.title('Pair'))

// `uncached` is `use_cache: false`: the second number is drawn for itself, and may by chance be the
// same.
const inputs = ask({
  needs: { v: randomNumber, v1: uncached(randomNumber) },
  answers: { 200: Pair },
})

export const app = new Hono().get('/value/', inputs, c => c.json({ value: [c.var.v, c.var.v1] }))

export const about = 'A new result at each place: the numbers are independent.'
export const request = '/value/'
