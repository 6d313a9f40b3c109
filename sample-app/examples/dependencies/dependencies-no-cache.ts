import { Hono } from 'hono'
import { ask, uncached } from '../../ask/ask.ts'
import { answers, randomNumber } from './dependencies-cache.ts'

// `uncached` is `use_cache: false`: the second number is drawn for itself, by chance the same.
const inputs = ask({ needs: { v: randomNumber, v1: uncached(randomNumber) }, answers })

export const app = new Hono().get('/value/', inputs, c => c.json({ value: [c.var.v, c.var.v1] }))

export const about = 'A new result at each place: the numbers are independent.'
export const request = '/value/'
