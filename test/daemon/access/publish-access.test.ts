// Mirrors daemon/access/auth.ts: publishes
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry, type TokenWish } from '../../support/registry.ts'

const lacks = (scope: string) => `this token may not do that: it lacks the scope \`${scope}\``
const notGoodFor = (name: string) => `this token does not cover the crate \`${name}\``

test('a token publishes what its scopes and crates cover: else 403, each reason, and nothing left behind', async t => {
  const test = await TestRegistry.open(t)
  const all = await test.user('alice')
  await test.publish(all, { name: 'demo', version: '1.0.0' })
  const rows: [what: string, wish: TokenWish, name: string, expected: string[]][] = [
    ['no scope at all', { scopes: [] }, 'demo', [lacks('publish-update')]],
    ['updates only, a new crate', { scopes: ['publish-update'] }, 'new', [lacks('publish-new')]],
    ['new crates only, an update', { scopes: ['publish-new'] }, 'demo', [lacks('publish-update')]],
    ['no crate at all', { crates: [] }, 'demo', [notGoodFor('demo')]],
    [
      'neither scope nor crate',
      { scopes: ['publish-update'], crates: ['other'] },
      'new',
      [lacks('publish-new'), notGoodFor('new')],
    ],
    ['updates', { scopes: ['publish-update'] }, 'demo', []],
    ['new crates that begin so', { scopes: ['publish-new'], crates: ['x*', 'On*'] }, 'onwards', []],
  ]
  for (const [what, wish, name, expected] of rows) {
    await t.test(what, async () => {
      const token = await test.token(1, wish)
      const before = await test.everything()
      const { status, body } = await test.publish(token, { name, version: '2.0.0' })
      const details = (body.errors ?? []).map(({ detail }) => detail)
      assert.deepEqual([status, details], [expected.length > 0 ? 403 : 200, expected])
      if (expected.length > 0) assert.deepEqual(await test.everything(), before)
    })
  }
})
