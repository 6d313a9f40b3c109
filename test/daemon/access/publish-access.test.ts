// Mirrors daemon/access/auth.ts: publishes
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry, type TokenWish } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'

const ABSENT = `this needs a token; ${BASE}/me says how to get one, then run \`cargo login\``
const REJECTED = `this token is not valid: it is unknown, revoked or expired; ${BASE}/me says how to get a new one`
const lacks = (scope: string) => `this token may not do that: it lacks the scope \`${scope}\``
const notGoodFor = (name: string) => `this token does not cover the crate \`${name}\``

test('publishing with a token that is none, or not good enough: 403, the reason, and nothing left behind', async t => {
  const test = await TestRegistry.open(t)
  const all = await test.user('alice')
  await test.publish(all, { name: 'demo', version: '1.0.0' })
  const token = (wish: TokenWish) => test.token(1, wish)
  const rows: [what: string, token: string | null, name: string, expected: string[]][] = [
    ['no token', null, 'demo', [ABSENT]],
    ['an expired token', await token({ expires: '2026-11-20T12:00:00Z' }), 'demo', [REJECTED]],
    [
      'no scope at all',
      await token({ scopes: [] }),
      'demo',
      [lacks('publish-new or publish-update')],
    ],
    [
      'updates only, a new crate',
      await token({ scopes: ['publish-update'] }),
      'fresh',
      [lacks('publish-new')],
    ],
    [
      'new crates only, an update',
      await token({ scopes: ['publish-new'] }),
      'demo',
      [lacks('publish-update')],
    ],
    ['no crate at all', await token({ crates: [] }), 'demo', [notGoodFor('demo')]],
    [
      'neither scope nor crate',
      await token({ scopes: ['publish-update'], crates: ['other'] }),
      'fresh',
      [lacks('publish-new'), notGoodFor('fresh')],
    ],
  ]
  for (const [what, bad, name, expected] of rows) {
    await t.test(what, async () => {
      const before = await test.everything()
      const answer = await test.publish(bad, { name, version: '2.0.0' })
      assert.deepEqual(answer, {
        status: 403,
        body: { errors: expected.map(detail => ({ detail })) },
      })
      assert.deepEqual(await test.everything(), before)
    })
  }
})

test('publishing with a token that is good enough', async t => {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  const rows: [what: string, wish: TokenWish, name: string, version: string][] = [
    ['new crates', { scopes: ['publish-new'] }, 'one', '1.0.0'],
    ['updates', { scopes: ['publish-update'] }, 'one', '1.0.1'],
    [
      'crates that begin so',
      { scopes: ['publish-new'], crates: ['x*', 'On*'] },
      'onwards',
      '1.0.0',
    ],
  ]
  for (const [what, wish, name, version] of rows) {
    await t.test(what, async () => {
      const { status, body } = await test.publish(await test.token(1, wish), { name, version })
      assert.deepEqual([status, body.errors], [200, undefined])
    })
  }
})

test('the first publisher of a crate owns it', async t => {
  const test = await TestRegistry.open(t)
  await test.publish(await test.user('alice'), { name: 'demo', version: '1.0.0' })
  const { owners, audit } = await test.everything()
  assert.deepEqual(owners, [
    { crate_id: 1, user_id: 1, added_at: '2026-11-20T12:00:00Z', added_by: null },
  ])
  const publishes = (audit as { id: number; action: string }[]).filter(
    event => event.action === 'publish',
  )
  const event = {
    at: '2026-11-20T12:00:00Z',
    action: 'publish',
    crate: 'demo',
    version: '1.0.0',
    detail: null,
  }
  const actor = { user_id: 1, actor: 'alice', token_id: 1, address: 'unknown' }
  assert.deepEqual(publishes, [{ id: publishes[0]?.id, ...event, ...actor }])
})
