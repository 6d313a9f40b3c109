// A status, a header, and errors of your own.
// $ curl '/items/2'
import { type ErrorHandler, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../validator/path-params-int.ts'

const items = new Map([[1, 'Foo']])
const Param = v.object({ item_id: v.pipe(integer, v.minValue(1), v.maxValue(1000)) })
const item = [valid('param', Param), complete] as const

// What no check shows to the documentation: by route, answers and errors that are not 200 and 422.
export const documents = {
  'GET /items/:item_id': { errors: [404] },
  'PUT /items/:item_id': { answers: { 201: Param } },
  'DELETE /items/:item_id': { answers: {}, errors: [409] },
}

// The one place where exceptions become answers. One that has its answer, as that of `complete`,
// gives it; an unexpected one tells a stranger nothing.
export const answerError: ErrorHandler = (error, c) => {
  if (error instanceof HTTPException) {
    return error.res ? error.getResponse() : c.json({ detail: error.message }, error.status)
  }
  console.error(error)
  return c.text('Internal Server Error', 500)
}

export default new Hono()
  .onError(answerError)
  // A refusal is an answer like any other, and a typed client knows of it.
  .get('/items/:item_id', ...item, c => {
    const { item_id } = c.req.valid('param')
    const name = items.get(item_id)
    if (name === undefined) return c.json({ detail: `There is no item ${item_id}` }, 404)
    return c.json({ item_id, name }, 200)
  })
  .put('/items/:item_id', ...item, c => {
    return c.json(c.req.valid('param'), 201, { Location: c.req.path })
  })
  // An HTTPException ends the request from anywhere, from a function deep down, too.
  .delete('/items/:item_id', ...item, () => {
    throw new HTTPException(409, { message: 'Items are kept' })
  })
