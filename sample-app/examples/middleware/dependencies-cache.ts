// One result per request: the numbers are equal.
// $ curl '/value/'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'

// What is set in `c.var` stays for the request and no longer. A function in it can wait until it is
// called, and remember what it said: the number is drawn when somebody needs it, and once.
const lottery = createMiddleware<{ Variables: { draw: () => number } }>(async (c, next) => {
  let drawn: number | undefined
  c.set('draw', () => {
    drawn ??= 1 + Math.floor(Math.random() * 99)
    return drawn
  })
  await next()
})

export default new Hono().get('/value/', lottery, c => {
  return c.json({ value: [c.var.draw(), c.var.draw()] })
})
