import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitingStreams } from '../../../daemon/http/waiting-streams.ts'

const tick = () => new Promise(setImmediate)

test('requests over HTTP/2 begin in their order, a few in each turn of the event loop', async () => {
  const waiting = waitingStreams()
  const begun: number[] = []
  for (let at = 0; at < 10; at++) waiting({ destroyed: false }, () => begun.push(at))
  const counts: number[] = []
  for (let turns = 0; turns < 4; turns++) {
    counts.push(begun.length)
    await tick()
  }
  assert.deepEqual(counts, [0, 4, 8, 10])
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('requests that were reset while they waited take no place in a turn', async () => {
  const waiting = waitingStreams()
  const begun: number[] = []
  const streams = Array.from({ length: 100_000 }, () => ({ destroyed: false }))
  for (const [at, stream] of streams.entries()) waiting(stream, () => begun.push(at))
  for (const stream of streams.slice(0, -2)) stream.destroyed = true
  await tick()
  assert.deepEqual(begun, [99_998, 99_999])
})

test('a request that comes while others begin waits for the next turn', async () => {
  const waiting = waitingStreams()
  const begun: string[] = []
  waiting({ destroyed: false }, () => {
    begun.push('first')
    waiting({ destroyed: false }, () => begun.push('second'))
  })
  await tick()
  assert.deepEqual(begun, ['first'])
  await tick()
  assert.deepEqual(begun, ['first', 'second'])
})
