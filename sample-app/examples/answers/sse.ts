// Events that a page listens to.
// $ curl '/events?last=3'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../numbers.ts'

const Query = v.object({ last: v.optional(v.pipe(integer, v.minValue(1), v.maxValue(1000)), '3') })
const Headers = v.object({ 'Last-Event-ID': v.optional(integer, '0') })
export const documents = { 'GET /events': { answers: { 200: 'text/event-stream' } } }
const checks = [valid('query', Query), valid('header', Headers), complete] as const

// In a page: `new EventSource('/events').addEventListener('tick', …)`. A browser that lost the
// connection comes back with the ID of the last event it had, and goes on from there.
export default new Hono().get('/events', ...checks, c => {
  const { last } = c.req.valid('query')
  const { 'Last-Event-ID': seen } = c.req.valid('header')
  return streamSSE(c, async stream => {
    for (let id = seen + 1; id <= last && !stream.aborted; id += 1) {
      await stream.writeSSE({ id: String(id), event: 'tick', data: JSON.stringify({ id }) })
    }
  })
})
