import { randomInt } from 'node:crypto'
import { Hono } from 'hono'
import * as v from 'valibot'
import { ask, dependency } from '../../ask/ask.ts'

export const randomNumber = dependency({}, () => randomInt(1, 100))

export const answers = {
  200: v.pipe(v.object({ value: v.array(v.number()) }), v.title('Pair')),
}

// A dependency that is needed twice runs once per request: the two numbers are always the same.
const inputs = ask({ needs: { v: randomNumber, v1: randomNumber }, answers })

export const app = new Hono().get('/value/', inputs, c => c.json({ value: [c.var.v, c.var.v1] }))

export const about = 'One result per request: the numbers are equal.'
export const request = '/value/'
