import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './dependencies-cache.ts'

test('dependencies-cache: equal within a request, and not in all of them', async () => {
  const drawn = new Set<number>()
  for (let round = 0; round < 20; round += 1) {
    const { value } = await (await testClient(slashed(app)).value.index.$get()).json()
    assert.equal(value[0], value[1])
    drawn.add(value[0] ?? 0)
  }
  assert.ok(drawn.size > 1 && [...drawn].every(number => number >= 1 && number <= 99))
})
