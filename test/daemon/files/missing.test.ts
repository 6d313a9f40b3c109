import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry } from '../../support/registry.ts'

test('addresses of older versions lead to the file, and to both versions', async t => {
  const registry = await TestRegistry.open(t, {
    env: { PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test/sub' },
  })
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'Demo', version: '1.0.0' })
  await registry.indexWorker.pages.flush()
  const answer = async (path: string) => {
    const { status, headers } = await registry.request('GET', path)
    return [status, headers.get('location')]
  }
  const source = '/sub/crates/Demo/1.0.0/src/#src/lib.rs'
  assert.deepEqual(await answer('/crates/Demo/1.0.0/src/src/lib.rs.html'), [301, source])
  assert.deepEqual(await answer('/crates/Demo/1.0.0/parts/2/src/lib.rs.html'), [301, source])
  assert.deepEqual(await answer('/crates/Demo/1.0.0/raw/src/lib.rs.txt'), [301, source])
  assert.deepEqual(await answer('/crates/Demo/1.0.0/raw/src/lib.rs'), [301, source])
  assert.deepEqual(await answer('/crates/Demo/compare/1.0.0...1.1.0'), [
    301,
    '/sub/crates/Demo/compare/#1.0.0...1.1.0',
  ])
  // Another spelling leads to the crate first; what does not exist leads nowhere.
  assert.equal((await answer('/crates/demo/1.0.0/raw/src/lib.rs'))[0], 303)
  assert.equal((await answer('/crates/Demo/9.0.0/src/src/lib.rs.html'))[0], 404)
  assert.equal((await answer('/crates/none/1.0.0/src/src/lib.rs.html'))[0], 404)
})
