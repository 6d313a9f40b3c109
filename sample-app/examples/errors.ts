import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode as Status } from 'hono/utils/http-status'
import * as v from 'valibot'
import { ask, type NodeEnv } from '../ask/ask.ts'
import { ValidationError } from '../ask/problem.ts'
import { integer } from './path/path-params-int.ts'

/** What `ask` answers with, as the documentation shows it: one problem for each place. */
const Place = v.union([v.string(), v.pipe(v.number(), v.integer())])
export const ValidationProblem = v.object({
  loc: v.pipe(v.array(Place), v.title('Location')),
  msg: v.pipe(v.string(), v.title('Message')),
  type: v.pipe(v.string(), v.title('Error Type')),
  input: v.optional(v.unknown()),
  ctx: v.optional(v.looseObject({})),
})
export const HTTPValidationError = v.pipe(
  v.object({ detail: v.optional(v.array(ValidationProblem)) }),
  v.title('HTTPValidationError'),
  v.description('Validation Error'),
)

/** The one place where what was thrown becomes an answer: every example here has it. */
export function answerError(error: Error, c: Context<NodeEnv>): Response {
  if (error instanceof ValidationError) return c.json({ detail: [...error.problems.values()] }, 422)
  if (error instanceof HTTPException) {
    return error.res ?? c.json({ detail: error.message }, error.status as Status)
  }
  // The client went away while its body was being read: nobody hears the answer.
  if (error === c.env?.incoming?.errored) return c.body(null, 400)
  console.error(error)
  return c.text('Internal Server Error', 500)
}

export const app = new Hono<NodeEnv>()
app.onError(answerError)

const items = new Map<number | bigint, string>([[1, 'Foo']])
const path = { item_id: v.pipe(integer, v.minValue(1), v.maxValue(1000)) }
const Failure = v.pipe(v.object({ detail: v.string() }), v.title('Failure'))

// An HTTPException ends the request from anywhere. `answers` tells the documentation of it.
app.get('/items/:item_id', ask({ path, answers: { 404: Failure } }), c => {
  const { item_id } = c.var.path
  const name = items.get(item_id)
  if (name === undefined) throw new HTTPException(404, { message: `There is no item ${item_id}` })
  return c.json({ item_id, name })
})

// A status and headers that are set on the context count, whatever is returned later.
app.put('/items/:item_id', ask({ path, answers: { 201: v.object({ item_id: integer }) } }), c => {
  c.status(201)
  c.header('Location', c.req.path)
  return c.json({ item_id: c.var.path.item_id })
})

export const about = 'A status, a header, and errors of your own.'
export const request = '/items/2'
