import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slots } from '../../../daemon/http/slots.ts'
import { gate } from '../../support/gate.ts'
import { refusedWith } from '../../support/refusal.ts'

const isBusy = refusedWith('git_busy')

/** Works in a slot, as handlers do. */
async function run(
  slots: Slots,
  client: string,
  work: () => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const slot = slots.admit(client)
  try {
    await slot.start(signal)
    await work()
  } finally {
    slot.leave()
  }
}

/** Work that lasts until `release`, and counts how often it has begun. */
function heldWork() {
  const { opened: held, open: release } = gate()
  const begun: string[] = []
  const work = (client: string) => async () => {
    begun.push(client)
    await held
  }
  return { work, begun, release: () => release() }
}

test('so many work at a time, so many wait, and half of either is left to other clients', async () => {
  const slots = new Slots({ running: 2, waiting: 4, busy: 'git_busy' })
  const { work, begun, release } = heldWork()
  const greedy = [1, 2, 3].map(() => run(slots, 'a', work('a')))
  await assert.rejects(run(slots, 'a', work('a')), isBusy)
  const others = ['b', 'c', 'd'].map(name => run(slots, name, work(name)))
  await assert.rejects(run(slots, 'e', work('e')), isBusy)
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a', 'b'])
  release()
  await Promise.all([...greedy, ...others])
  assert.deepEqual(begun.toSorted(), ['a', 'a', 'a', 'b', 'c', 'd'])
})

test('work that fails leaves its place, and so does who leaves before their turn', async () => {
  const slots = new Slots({ running: 1, waiting: 1, busy: 'git_busy' })
  const fails = () => Promise.reject(new Error('no'))
  await assert.rejects(run(slots, 'a', fails), /^Error: no$/)
  const { work, release } = heldWork()
  const first = run(slots, 'a', work('a'))
  const leaving = new AbortController()
  const left = run(slots, 'b', work('b'), leaving.signal)
  await assert.rejects(run(slots, 'c', work('c')), isBusy)
  leaving.abort()
  await assert.rejects(left, isBusy)
  const next = run(slots, 'c', work('c'))
  release()
  await Promise.all([first, next])
})

test('who is not ready loses the place to a newer request, the oldest first, within its own share', async () => {
  const slots = new Slots({ running: 2, waiting: 2, busy: 'git_busy' })
  const lost: string[] = []
  const admit = (client: string, name: string) => slots.admit(client, () => lost.push(name))
  const first = admit('a', 'a1')
  const second = admit('a', 'a2')
  admit('b', 'b1')
  admit('a', 'a3')
  assert.deepEqual(lost, ['a1'])
  await assert.rejects(first.start(), isBusy)
  await second.start()
  const third = admit('b', 'b2')
  admit('c', 'c1')
  assert.deepEqual(lost, ['a1', 'b1'])
  admit('c', 'c2')
  assert.deepEqual(lost, ['a1', 'b1', 'a3'])
  third.leave()
  admit('d', 'd1')
  assert.deepEqual(lost, ['a1', 'b1', 'a3'])
  for (let i = 0; i < 2; i++) admit('d', `d${i + 2}`)
  assert.deepEqual(lost, ['a1', 'b1', 'a3', 'c1', 'd1'])
})
