import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry } from '../../support/registry.ts'

test('a good publish is in the catalog, the store and the index when it is answered', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const answer = await registry.publish(token, { name: 'demo', version: '1.0.0' })
  assert.deepEqual(answer, {
    status: 200,
    body: { warnings: { invalid_categories: [], invalid_badges: [], other: [] } },
  })
  assert.match(
    (await registry.shown('index/de/mo/demo')) ?? '',
    /^\{"name":"demo","vers":"1\.0\.0",/,
  )
})
