// A new result at each place: the numbers are independent.
// $ curl '/value/'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'

// The same as before, without a memory: each call draws for itself, by chance the same number.
const lottery = createMiddleware<{ Variables: { draw: () => number } }>(async (c, next) => {
  c.set('draw', () => 1 + Math.floor(Math.random() * 99))
  await next()
})

export default new Hono().get('/value/', lottery, c => {
  return c.json({ value: [c.var.draw(), c.var.draw()] })
})
