// An answer that is written while it is sent.
// $ curl '/count?to=5'
import { Hono } from 'hono'
import { streamText } from 'hono/streaming'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../numbers.ts'

const to = v.pipe(integer, v.minValue(0), v.maxValue(100_000))
const Query = v.object({ to: v.optional(to, '10') })
export const documents = { 'GET /count': { answers: { 200: 'text/plain' } } }

// It waits for a client that reads slowly: memory stays small. One that went away ends it.
export default new Hono().get('/count', valid('query', Query), complete, c => {
  const { to } = c.req.valid('query')
  return streamText(c, async stream => {
    for (let number = 1; number <= to && !stream.aborted; number += 1) {
      await stream.writeln(String(number))
    }
  })
})
