import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Repeater } from '../../../core/async/repeater.ts'
import { settle } from '../../support/event-loop.ts'

/** Work that begins at once and ends when it is told to, with a given pause. */
function manual() {
  const runs: ((again: number | null) => void)[] = []
  let begun = 0
  const repeater = new Repeater(() => {
    begun++
    return new Promise(resolve => runs.push(resolve))
  })
  const end = async (again: number | null) => {
    runs.shift()?.(again)
    await settle()
  }
  return { repeater, begun: () => begun, end }
}

test('work is repeated when it says so, or when something was scheduled meanwhile', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { repeater, begun, end } = manual()
  repeater.schedule(100)
  repeater.schedule(50)
  t.mock.timers.tick(50)
  assert.equal(begun(), 1)
  await end(1000)
  t.mock.timers.tick(999)
  assert.equal(begun(), 1)
  t.mock.timers.tick(1)
  assert.equal(begun(), 2)
  repeater.schedule(10)
  t.mock.timers.tick(500)
  assert.equal(begun(), 2, 'not beside the run that has begun')
  await end(1000)
  t.mock.timers.tick(10)
  assert.equal(begun(), 3)
  await end(null)
  t.mock.timers.tick(100_000)
  assert.equal(begun(), 3, 'nobody wants more')
})

test('a run that is asked for comes after the one that has begun', async () => {
  const { repeater, begun, end } = manual()
  const first = repeater.run()
  const second = repeater.run()
  await settle()
  assert.equal(begun(), 1)
  await end(null)
  await first
  assert.equal(begun(), 2)
  await end(null)
  await second
})

test('closing waits for the run that has begun and begins no other', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { repeater, begun, end } = manual()
  repeater.schedule(0)
  t.mock.timers.tick(0)
  let isClosed = false
  const closed = repeater.close().then(() => {
    isClosed = true
  })
  await settle()
  assert.equal(isClosed, false)
  await end(0)
  await closed
  repeater.schedule(0)
  t.mock.timers.tick(100)
  assert.equal(begun(), 1)
})
