// One result per request: the numbers are equal.
// $ curl '/value/'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'

// A value in `c.var` stays for the request and no longer. A function in it can wait for its first
// call, and remember its result: the number is drawn once, when somebody needs it.
const lottery = createMiddleware<{ Variables: { draw: () => number } }>(async (c, next) => {
  let drawn: number | undefined
  c.set('draw', () => (drawn ??= 1 + Math.floor(Math.random() * 99)))
  await next()
})

export default new Hono().get('/value/', lottery, c => {
  return c.json({ value: [c.var.draw(), c.var.draw()] })
})
