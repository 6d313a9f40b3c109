// Mirrors generator/accounts/password.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import {
  HashingQueue,
  type LoginPriority,
  TOP_PRIORITY,
} from '../../../generator/accounts/password.ts'

const stranger = (recent: number): LoginPriority => ({ isKnown: false, recent })

/** Works of one queue: each lasts until it is let go; notes what began and what was refused, in that order. */
function prepared(atOnce: number, mostWaiting: number) {
  const queue = new HashingQueue({ atOnce, mostWaiting })
  const events: string[] = []
  const ends = new Map<string, () => void>()
  const enter = (name: string, priority: LoginPriority) => {
    const work = () => {
      events.push(name)
      return new Promise<void>(resolve => ends.set(name, resolve))
    }
    queue.run(priority, work).catch(error => {
      assert.ok(error instanceof Refusal && error.has('logins_busy'))
      events.push(`${name} refused`)
    })
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { enter, end, noted: events }
}

test('known ones begin first, then who has tried least of late, then who came first', async () => {
  const { enter, end, noted: events } = prepared(1, 10)
  enter('running', stranger(1))
  enter('often', stranger(5))
  enter('once', stranger(1))
  enter('once, later', stranger(1))
  enter('twice', stranger(2))
  enter('known, often', { isKnown: true, recent: 9 })
  enter('known', TOP_PRIORITY)
  const order = ['running', 'known', 'known, often', 'once', 'once, later', 'twice', 'often']
  for (const name of order) await end(name)
  assert.deepEqual(events, order)
})

test('when too many wait, the last in the order is refused, not the newest', async () => {
  const { enter, end, noted: events } = prepared(1, 2)
  enter('running', stranger(1))
  enter('often', stranger(5))
  enter('once', stranger(1))
  enter('known', TOP_PRIORITY)
  enter('newest', stranger(1))
  await end('none')
  assert.deepEqual(events, ['running', 'often refused', 'newest refused'])
  for (const name of ['running', 'known', 'once']) await end(name)
  assert.deepEqual(events.slice(3), ['known', 'once'])
})

test('a place that becomes free is taken by who waits, not by who comes at that very moment', async () => {
  const { enter, end, noted: events } = prepared(1, 10)
  enter('running', stranger(1))
  enter('waiting', stranger(5))
  const ended = end('running')
  queueMicrotask(() => enter('newcomer', stranger(1)))
  await ended
  assert.deepEqual(events, ['running', 'waiting'])
  await end('waiting')
  assert.deepEqual(events, ['running', 'waiting', 'newcomer'])
})

test('work that fails makes room, too', async () => {
  const queue = new HashingQueue({ atOnce: 1, mostWaiting: 1 })
  const works = [1, 2].map(n =>
    queue.run(TOP_PRIORITY, () => Promise.reject(new Error(`failure ${n}`))),
  )
  const failures = await Promise.allSettled(works)
  assert.deepEqual(
    failures.map(failure => failure.status === 'rejected' && String(failure.reason)),
    ['Error: failure 1', 'Error: failure 2'],
  )
  assert.equal(await queue.run(TOP_PRIORITY, () => Promise.resolve('done')), 'done')
})
