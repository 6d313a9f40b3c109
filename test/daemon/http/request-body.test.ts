import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Hono } from 'hono'
import { readToEnd, readWhole } from '../../../daemon/http/request-body.ts'
import { none } from '../../support/none.ts'
import { TestRegistry } from '../../support/registry.ts'
import { publishRequest } from '../../support/release.ts'
import { form, Visitor } from '../../support/visitor.ts'

/** A body that goes on arriving, a byte at a time, for as long as somebody reads it; `sent` is what arrived. */
function trickle(t: TestContext, begin: Uint8Array) {
  let timer: NodeJS.Timeout | undefined
  let sent = 0
  t.after(() => clearInterval(timer))
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(begin)
      timer = setInterval(() => {
        controller.enqueue(new Uint8Array([32]))
        sent++
      }, 20)
    },
  })
  return { body, sent: () => sent }
}

test('a request has so long to arrive, however it trickles, whoever reads it', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_LIMITS_REQUEST_SECONDS: '1' } })
  const token = await test.user('alice')
  assert.equal((await test.publish(token, { name: 'demo', version: '1.0.0' })).status, 200)
  const u32 = (value: number) => new Uint8Array(new Uint32Array([value]).buffer)
  const whole = publishRequest({ name: 'demo', version: '1.0.1' })
  const rows: [what: string, path: string, begin: Uint8Array, status: number][] = [
    ['metadata', '/api/v1/crates/new', u32(1000), 408],
    ['a crate', '/api/v1/crates/new', whole.subarray(0, whole.length - 200), 408],
    ['JSON', '/api/v1/crates/demo/owners', new Uint8Array([123]), 408],
    ['nothing that is read', '/api/v1/crates/demo/1.0.0/unyank', new Uint8Array([123]), 200],
  ]
  const detail =
    'the request was incomplete after 1 seconds; send it again over a faster connection, or ask the operator to raise `limits.request_seconds`'
  const asked = rows.map(async ([what, path, begin, status]) => {
    const { body, sent } = trickle(t, begin)
    const init: RequestInit & { duplex: 'half' } = { body, duplex: 'half' }
    const answer = await test.request('PUT', path, token, init)
    assert.equal(answer.status, status, what)
    assert.ok(sent() > 5, what)
    if (status !== 200) assert.deepEqual(await answer.json(), { errors: [{ detail }] })
  })
  await Promise.all(asked)
  none(test.logged.filter(line => line.includes('"level":50')))
})

test('a form may have 64 KiB, and no more', async t => {
  const test = await TestRegistry.open(t)
  const visitor = new Visitor(test)
  const csrf = await visitor.proof()
  const status = async (length: number) =>
    (
      await visitor.send('/me/login', {
        method: 'POST',
        body: form({ csrf, x: 'x'.repeat(length) }),
      })
    ).status
  assert.deepEqual([await status(60_000), await status(66_000)], [403, 400])
})

test('a body that breaks off when its time is over already ends nothing', async () => {
  const app = new Hono()
  app.use(readToEnd({ bytes: 1000, seconds: 0.01 }))
  app.post('/', async c => {
    await assert.rejects(readWhole(c.req.raw, 1000), /was incomplete after/)
    return c.text('')
  })
  let breakOff = async () => {}
  const body = new ReadableStream({
    start(controller) {
      breakOff = async () => {
        controller.enqueue(new Uint8Array(1))
        await new Promise(setImmediate)
        controller.error(new Error('the client has left'))
      }
    },
  })
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
  assert.equal((await app.request('/', init)).status, 200)
  await breakOff()
  // An error that nobody waits for would end the process by now.
  await new Promise(setImmediate)
})
