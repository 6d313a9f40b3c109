import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './dependencies-no-cache.ts'

test('dependencies-no-cache: of twenty pairs, one at least has two numbers', async () => {
  let differ = 0
  for (let round = 0; round < 20; round += 1) {
    const { value } = await (await testClient(slashed(app)).value.index.$get()).json()
    if (value[0] !== value[1]) differ += 1
  }
  assert.ok(differ > 0)
})
