// An answer that is written while it is sent, and events that a page listens to.
// $ curl '/count?to=5'
import { Hono } from 'hono'
import { streamSSE, streamText } from 'hono/streaming'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../validator/path-params-int.ts'

const to = v.pipe(integer, v.minValue(0), v.maxValue(100_000))
const query = valid('query', v.object({ to: v.optional(to, '10') }))
const header = valid('header', v.object({ 'Last-Event-ID': v.optional(integer, '0') }))

export const documents = {
  'GET /count': { answers: { 200: 'text/plain' } },
  'GET /events': { answers: { 200: 'text/event-stream' } },
}

export default new Hono()
  // It waits for a client that reads slowly: memory stays small. One that went away ends it.
  .get('/count', query, complete, c => {
    return streamText(c, async stream => {
      for (let number = 1; number <= c.req.valid('query').to && !stream.aborted; number += 1)
        await stream.writeln(String(number))
    })
  })
  // In a page: `new EventSource('/events').addEventListener('tick', …)`. A browser that lost the
  // connection comes back with the ID of the last event it had, and goes on from there.
  .get('/events', query, header, complete, c => {
    return streamSSE(c, async stream => {
      const { 'Last-Event-ID': seen } = c.req.valid('header')
      for (let id = seen + 1; id <= c.req.valid('query').to && !stream.aborted; id += 1)
        await stream.writeSSE({ id: String(id), event: 'tick', data: JSON.stringify({ id }) })
    })
  })
