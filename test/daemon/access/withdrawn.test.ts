// Mirrors daemon/accounts/: rights that end during a request
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { requireUser, setLocked } from '../../../daemon/accounts/accounts.ts'
import { removeOwners } from '../../../daemon/accounts/ownership.ts'
import { revokeToken } from '../../../daemon/accounts/tokens.ts'
import { operatorChange } from '../../../generator/store/catalog/change.ts'
import { findCrate } from '../../../generator/store/catalog/crates.ts'
import { publishRequest, TestRegistry } from '../../support/registry.ts'

const AT = '2026-11-20T12:00:00Z'
const WITHDRAWN =
  'the token was revoked or its user was locked while the request arrived; nothing was changed'

/** A registry in which alice and mallory own `demo`, and what mallory gets whose body is half here when something happens. */
async function prepared(t: TestContext) {
  const test = await TestRegistry.open(t)
  const alice = await test.user('alice')
  const token = await test.user('mallory')
  await test.user('accomplice')
  assert.equal((await test.publish(alice, { name: 'demo', version: '1.0.0' })).status, 200)
  const body = JSON.stringify({ users: ['mallory'] })
  assert.equal(
    (await test.request('PUT', '/api/v1/crates/demo/owners', alice, { body })).status,
    200,
  )
  const slowly = async (path: string, bytes: Uint8Array, meanwhile: () => Promise<unknown>) => {
    const half = bytes.length >> 1
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          controller.enqueue(bytes.subarray(0, half))
          await meanwhile()
          controller.enqueue(bytes.subarray(half))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const init: RequestInit & { duplex: 'half' } = { body: stream, duplex: 'half' }
    const answer = await test.request('PUT', path, token, init)
    return [answer.status, await answer.json()]
  }
  return { test, slowly }
}

const add = Buffer.from(JSON.stringify({ users: ['accomplice'] }))

test('who loses a crate while a request of theirs arrives has lost it', async t => {
  const { test, slowly } = await prepared(t)
  const { database } = test.registry
  const crate = (await findCrate(database, parseName('demo'))) ?? assert.fail('no crate')
  const remove = () => removeOwners(database, crate, ['mallory'], operatorChange(AT))
  const detail =
    '`mallory` is not an owner of `demo`; ask one of its owners for `cargo owner --add mallory`'
  assert.deepEqual(await slowly('/api/v1/crates/demo/owners', add, remove), [
    200,
    { errors: [{ detail }] },
  ])
})

test('a token that is revoked, and a user who is locked out, while a request arrives, are good for nothing', async t => {
  const { test, slowly } = await prepared(t)
  const { database } = test.registry
  const user = await requireUser(database, 'mallory')
  const lock = () => setLocked(database, user, true, operatorChange(AT))
  const publish = publishRequest({ name: 'demo', version: '1.0.1' })
  const refusal = [403, { errors: [{ detail: WITHDRAWN }] }]
  assert.deepEqual(await slowly('/api/v1/crates/new', publish, lock), refusal)
  await setLocked(database, user, false, operatorChange(AT))
  assert.deepEqual(
    await slowly('/api/v1/crates/demo/owners', add, () => revokeToken(database, 2, AT)),
    refusal,
  )
  const actions = await database
    .selectFrom('audit')
    .select('action')
    .where('actor', '=', 'mallory')
    .execute()
  assert.deepEqual(actions, [])
})

test('a token that expires while its request arrives is good for nothing', async t => {
  const { test, slowly } = await prepared(t)
  const { database } = test.registry
  await database.updateTable('tokens').set({ expires_at: '2026-11-20T12:00:30Z' }).execute()
  const expire = async () => {
    test.now = new Date('2026-11-20T12:00:30Z')
  }
  const publish = publishRequest({ name: 'demo', version: '1.0.1' })
  const refusal = [403, { errors: [{ detail: WITHDRAWN }] }]
  assert.deepEqual(await slowly('/api/v1/crates/new', publish, expire), refusal)
  // Nothing is left of the bytes, either.
  const { cksum } = await database.selectFrom('releases').select('cksum').executeTakeFirstOrThrow()
  const keys: string[] = []
  for await (const key of test.registry.crates.list()) keys.push(key)
  assert.equal(keys.length, 1)
  assert.ok(keys[0]?.includes(cksum))
})

test('a token for new crates adds no version to a crate that came while its request arrived', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice', { scopes: ['publish-new'] })
  const other = await test.user('bob')
  const bytes = publishRequest({ name: 'race', version: '1.0.0' })
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        controller.enqueue(bytes.subarray(0, bytes.length >> 1))
        const answer = await test.publish(other, { name: 'race', version: '0.9.0' })
        assert.equal(answer.status, 200)
        // Alice owns it too, so that only the scope of her token is in the way.
        const body = JSON.stringify({ users: ['alice'] })
        await test.request('PUT', '/api/v1/crates/race/owners', other, { body })
        controller.enqueue(bytes.subarray(bytes.length >> 1))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const init: RequestInit & { duplex: 'half' } = { body: stream, duplex: 'half' }
  const answer = await test.request('PUT', '/api/v1/crates/new', token, init)
  assert.deepEqual(await answer.json(), {
    errors: [{ detail: 'this token may not do that: it lacks the scope `publish-update`' }],
  })
})
