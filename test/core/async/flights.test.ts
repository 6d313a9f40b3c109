import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Flights } from '../../../core/async/flights.ts'

test('who comes while work goes on gets its result, or its failure; who comes later starts anew', async () => {
  const flights = new Flights<number>()
  let starts = 0
  const start = async () => ++starts
  const both = [flights.join('a', start), flights.join('a', start), flights.join('b', start)]
  assert.deepEqual(await Promise.all(both), [1, 1, 2])
  const fail = async () => Promise.reject(new Error('no'))
  const failing = [flights.join('a', fail), flights.join('a', start)]
  await flights.landed('a')
  for (const { status } of await Promise.allSettled(failing)) assert.equal(status, 'rejected')
  assert.equal(await flights.join('a', start), 3)
  await flights.landed('nothing')
})
