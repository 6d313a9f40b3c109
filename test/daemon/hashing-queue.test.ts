import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIRST, HashingQueue, type Standing } from '../../daemon/hashing-queue.ts'
import { Refusal } from '../../generator/error.ts'

const stranger = (recent: number): Standing => ({ isKnown: false, recent })

/** Works of one queue: each lasts until it is let go; notes what began and what was refused, in that order. */
function prepared(atOnce: number, mostWaiting: number) {
  const queue = new HashingQueue({ atOnce, mostWaiting })
  const noted: string[] = []
  const ends = new Map<string, () => void>()
  const enter = (name: string, standing: Standing) => {
    const work = () => {
      noted.push(name)
      return new Promise<void>(resolve => ends.set(name, resolve))
    }
    queue.run(standing, work).catch(error => {
      assert.ok(error instanceof Refusal && error.has('logins_busy'))
      noted.push(`${name} refused`)
    })
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { enter, end, noted }
}

test('known ones begin first, then who has tried least of late, then who came first', async () => {
  const { enter, end, noted } = prepared(1, 10)
  enter('running', stranger(1))
  enter('often', stranger(5))
  enter('once', stranger(1))
  enter('once, later', stranger(1))
  enter('twice', stranger(2))
  enter('known, often', { isKnown: true, recent: 9 })
  enter('known', FIRST)
  const order = ['running', 'known', 'known, often', 'once', 'once, later', 'twice', 'often']
  for (const name of order) await end(name)
  assert.deepEqual(noted, order)
})

test('when too many wait, the last in the order is refused, not the newest', async () => {
  const { enter, end, noted } = prepared(1, 2)
  enter('running', stranger(1))
  enter('often', stranger(5))
  enter('once', stranger(1))
  enter('known', FIRST)
  enter('newest', stranger(1))
  await end('none')
  assert.deepEqual(noted, ['running', 'often refused', 'newest refused'])
  for (const name of ['running', 'known', 'once']) await end(name)
  assert.deepEqual(noted.slice(3), ['known', 'once'])
})

test('never more than its number at once, also when one comes just as a place becomes free', async () => {
  const queue = new HashingQueue({ atOnce: 2, mostWaiting: 100 })
  let [running, most] = [0, 0]
  const work = async () => {
    running++
    most = Math.max(most, running)
    await Promise.resolve()
    running--
  }
  const failing = async () => {
    await work()
    throw new Error('failed')
  }
  for (let round = 0; round < 20; round++) {
    const all = [work, failing, work, failing].map(one => queue.run(FIRST, one))
    await Promise.resolve()
    await Promise.allSettled([...all, queue.run(FIRST, work)])
  }
  assert.deepEqual([running, most], [0, 2])
})
