import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paced } from '../../../generator/database/pace.ts'

test('much work at once leaves the event loop to others every 4 ms', async t => {
  // Work of a test before this one in the same process may have begun the present turn.
  await new Promise(setImmediate)
  let now = 0
  t.mock.method(performance, 'now', () => now)
  let [piece, longest, ended] = [0, 0, false]
  const nextTick = () => {
    ;[longest, piece] = [Math.max(longest, piece), 0]
    if (!ended) setImmediate(nextTick)
  }
  setImmediate(nextTick)
  const work = async () => {
    for (let at = 0; at < 10; at++) {
      await paced(() => {
        now += 4
        piece += 4
      })
    }
  }
  await Promise.all(Array.from({ length: 20 }, work))
  ended = true
  assert.equal(now, 800, 'all of it is done')
  assert.equal(longest, 8, 'a piece ends at the first step after 4 ms')
})
