// Work that goes on after the answer.
// $ curl --json '{"to":"johndoe"}' '/notifications/'
import { type Context, Hono } from 'hono'
import { getRuntimeKey } from 'hono/adapter'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

/** The sent messages; a real server would send them to somebody. */
export const sent: string[] = []
const Notification = v.object({ to: v.string() })
export const documents = { 'POST /notifications/': { answers: { 202: v.unknown() } } }

// Nobody else sees its errors. A Worker is stopped with its answer unless it is told to wait.
function later(c: Context, work: Promise<unknown>): void {
  const done = work.catch(error => console.error(error))
  if (getRuntimeKey() === 'workerd') c.executionCtx.waitUntil(done)
}

const send = async (to: string) => sent.push(to)

// 202: it was understood, and is not done yet.
export default new Hono().post('/notifications/', valid('json', Notification), complete, c => {
  later(c, send(c.req.valid('json').to))
  return c.json({ message: 'It will be sent' }, 202)
})
