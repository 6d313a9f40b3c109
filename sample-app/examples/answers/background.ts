// Work that goes on after the answer.
// $ curl --json '{"to":"johndoe"}' '/notifications/'
import { type Context, Hono } from 'hono'
import { getRuntimeKey } from 'hono/adapter'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

/** What was sent; a real one would be sent to somebody. */
export const sent: string[] = []
const Notification = v.object({ to: v.string() })

// A server goes on by itself, and has to care for errors, which nobody else hears. A Worker is
// stopped with its answer unless it is told what to wait for.
function later(c: Context, work: () => Promise<void>): void {
  const done = Promise.resolve()
    .then(work)
    .catch(error => console.error(error))
  if (getRuntimeKey() === 'workerd') c.executionCtx.waitUntil(done)
}

// 202: it was understood, and is not done yet.
export default new Hono().post('/notifications/', valid('json', Notification), complete, c => {
  const { to } = c.req.valid('json')
  later(c, async () => void sent.push(to))
  return c.json({ message: 'It will be sent' }, 202)
})
