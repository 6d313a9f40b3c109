import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachConcurrently } from '../../../core/async/concurrently.ts'

test('at most three items are worked on at a time, each once, in their order', async () => {
  const begun: number[] = []
  let [running, most] = [0, 0]
  await forEachConcurrently(
    Array.from({ length: 20 }, (_, at) => at),
    async at => {
      begun.push(at)
      most = Math.max(most, ++running)
      await null
      running--
    },
    3,
  )
  assert.deepEqual([begun, most, running], [Array.from({ length: 20 }, (_, at) => at), 3, 0])
  await forEachConcurrently([], () => assert.fail())
})

test('after a failure none begins, those that have begun end, and then it is thrown', async () => {
  const ended: number[] = []
  const begun: number[] = []
  const work = async (at: number) => {
    begun.push(at)
    if (at === 1) throw new Error('broken')
    for (let waits = 0; waits < 10; waits++) await null
    ended.push(at)
  }
  await assert.rejects(forEachConcurrently([0, 1, 2, 3, 4, 5], work, 3), /broken/)
  assert.deepEqual(
    [begun, ended],
    [
      [0, 1, 2],
      [0, 2],
    ],
  )
})
