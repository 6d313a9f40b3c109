// Mirrors daemon/web/crates.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn } from '../../support/visitor.ts'

test('the versions to manage come in the order of the page of the crate: newest first, whenever they were published', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('ada')
  for (const version of ['1.9.0', '2.0.0-rc.1', '1.10.0', '1.9.1'])
    await registry.publish(token, { name: 'keel', version })
  const page = await (await (await loggedIn(registry, 'ada')).get('/me/crates/keel')).text()
  assert.match(page, /Add another owner before removing ada/)
  assert.doesNotMatch(page, /aria-label="Remove ada|Audit log/)
  const versions = [...page.matchAll(/crates\/keel\/([^/"]+)\/"/g)].map(match => match[1])
  assert.deepEqual(versions, ['2.0.0-rc.1', '1.10.0', '1.9.1', '1.9.0'])
})
