import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { type Context, Hono } from 'hono'
import { Refusal } from '../../../core/error/error.ts'
import { bucketStreams } from '../../../daemon/files/bucket-streams.ts'
import { until } from '../../support/until.ts'

/** An app whose answers are streamed without an end, by the address that a header names. */
function endless(t: TestContext, options: Parameters<typeof bucketStreams>[0] = {}) {
  const opened: Readable[] = []
  const addressOf = (c: Context) => c.req.header('x-from') ?? ''
  const stream = bucketStreams({ addressOf, ...options })
  const app = new Hono()
  let outcome: 'stream' | 'nothing' | 'failure' = 'stream'
  t.after(() => {
    // For those who wait until now.
    outcome = 'nothing'
    for (const answer of opened) answer.destroy()
  })
  app.get('/', async c => {
    const answer = await stream(c, async () => {
      if (outcome === 'failure') throw new Error('the bucket is away')
      if (outcome === 'nothing') return null
      const bytes = new Readable({ read: () => undefined })
      bytes.push('some')
      opened.push(bytes)
      return { bytes, size: 1000, answer: { status: 200 } }
    })
    return answer ?? c.text('', 404)
  })
  app.onError((error, c) => {
    assert.ok(error instanceof Error)
    return c.text(error instanceof Refusal ? error.issues[0].code : '', 503)
  })
  const ask = async (from: string, signal: AbortSignal | null = null) =>
    await app.request('/', { headers: { 'x-from': from }, signal })
  const find = (what: typeof outcome): void => {
    outcome = what
  }
  return { opened, ask, find }
}

test('who waits for too long is refused, and so is who leaves; both places are free then', async t => {
  const { ask } = endless(t, { maxRunning: 2, maxWaiting: 2, waitMs: 50 })
  await Promise.all([ask('a'), ask('b')])
  for (let i = 0; i < 3; i++) {
    const late = await ask('c')
    assert.deepEqual([late.status, await late.text()], [503, 'downloads_busy'])
  }
  const patient = endless(t, { maxRunning: 2, maxWaiting: 1, waitMs: 60_000 })
  await Promise.all([patient.ask('a'), patient.ask('b')])
  const leaving = new AbortController()
  const left = patient.ask('c', leaving.signal)
  leaving.abort()
  await (await left).text()
  const next = patient.ask('c')
  patient.opened[0]?.destroy()
  assert.equal((await next).status, 200)
})

test('a place is free when the bytes are sent, the client leaves, or there are none', async t => {
  const { opened, ask, find } = endless(t, { maxRunning: 1, maxWaiting: 0 })
  const sent = await ask('a')
  assert.equal((await ask('a')).status, 503)
  opened[0]?.push(null)
  assert.equal(await sent.text(), 'some')
  const left = await ask('a')
  find('nothing')
  await left.body?.cancel()
  await until(async () => (await ask('a')).status === 404, 'the place is not free')
  find('failure')
  assert.equal(await (await ask('a')).text(), '')
  find('stream')
  const broken = await ask('a')
  opened[2]?.destroy(new Error('the bucket is away'))
  await assert.rejects(broken.text())
  assert.equal((await ask('a')).status, 200)
})

test('a client that takes too long loses its place; it has more time for more bytes', async t => {
  const short = endless(t, { maxRunning: 1, maxWaiting: 0, timeoutMs: 0, bytesPerMs: 1000 })
  const slow = await short.ask('a')
  await assert.rejects(slow.text(), /has taken too long/)
  assert.equal((await short.ask('a')).status, 200)
  const long = endless(t, { maxRunning: 2, maxWaiting: 0, timeoutMs: 0, bytesPerMs: 0.01 })
  const patient = await long.ask('a')
  const after = endless(t, { timeoutMs: 20, bytesPerMs: 1000 })
  await assert.rejects((await after.ask('a')).text())
  long.opened[0]?.push(null)
  assert.equal(await patient.text(), 'some')
})
