import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { inviteOwners } from '../../../generator/accounts/ownership.ts'
import { all, run } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn } from '../../support/visitor.ts'

/** A registry in which alice owns `demo`; what an owner request of hers gets. */
async function prepared(t: TestContext, env: Record<string, string> = {}) {
  const test = await TestRegistry.open(t, { env })
  const token = await test.user('alice')
  for (const login of ['bob', 'carol']) await test.user(login)
  assert.equal((await test.publish(token, { name: 'demo', version: '1.0.0' })).status, 200)
  const ask = async (method: 'PUT' | 'DELETE', body: unknown): Promise<{ errors?: unknown[] }> => {
    const path = '/api/v1/crates/demo/owners'
    const response = await test.request(method, path, token, { body: JSON.stringify(body) })
    return (await response.json()) as { errors?: unknown[] }
  }
  const events = (action: string) => {
    const sql = 'SELECT detail FROM audit WHERE action = ? ORDER BY id'
    return all(test.registry.database, sql, action)
  }
  return { test, ask, events }
}

test('one user named by several spellings is one user', async t => {
  const { ask, events } = await prepared(t)
  const users = ['bob', 'BOB', 'Bob', 'carol']
  assert.deepEqual(await ask('PUT', { users }), { ok: true, msg: 'bob, carol now own `demo`' })
  assert.deepEqual(await ask('DELETE', { users }), {
    ok: true,
    msg: 'removed bob, carol from the owners of `demo`',
  })
  const details = [{ detail: '{"login":"bob"}' }, { detail: '{"login":"carol"}' }]
  assert.deepEqual(await events('owner-remove'), details)
})

test('a request names so many users and no more, and a body that is longer is not even read whole', async t => {
  const { ask } = await prepared(t)
  const objection = 'the request names more than 100 users; name the others in another request'
  const many = Array.from({ length: 101 }, (_, i) => `u${i}`)
  assert.deepEqual(await ask('PUT', { users: many }), { errors: [{ detail: objection }] })
  assert.equal((await ask('PUT', { users: many.slice(0, 100) })).errors?.length, 100)
  assert.deepEqual(await ask('DELETE', { users: ['x'.repeat(65_536)] }), {
    errors: [{ detail: objection }],
  })
})

test('owners see who is invited, and take an invitation back, by the page or with Cargo', async t => {
  const { test, ask, events } = await prepared(t, { PLIMSOLL_OWNERS_ADD: 'invite' })
  await ask('PUT', { users: ['bob', 'carol'] })
  const alice = await loggedIn(test, 'alice')
  const shown = async () => {
    const text = await (await alice.get('/me/crates/demo')).text()
    return [...text.matchAll(/<div>(\w+) <span class="quiet">invited by alice, /g)].map(
      match => match[1],
    )
  }
  assert.deepEqual(await shown(), ['carol', 'bob'])
  const from = '/me/crates/demo'
  const answer = await alice.post(`${from}/owners/remove`, { login: 'bob' }, { from })
  assert.deepEqual(
    [answer.status, answer.headers.get('location')],
    [303, '/me/crates/demo?done=owner-removed'],
  )
  assert.deepEqual(await shown(), ['carol'])
  // Who owns the crate already is not said to be invited.
  const again = await alice.post('/me/crates/demo/owners/add', { login: 'alice' })
  assert.equal(again.headers.get('location'), '/me/crates/demo?done=owner-added')
  const bob = await loggedIn(test, 'bob')
  assert.equal((await bob.post('/me/invitations/demo/accept')).status, 400)
  await ask('DELETE', { users: ['carol'] })
  assert.deepEqual(await shown(), [])
  await ask('PUT', { users: ['carol'] })
  const carol = await loggedIn(test, 'carol')
  assert.equal((await carol.post('/me/invitations/demo/decline')).status, 303)
  assert.deepEqual([await shown(), await events('owner-add')], [[], []])
  assert.deepEqual(await events('owner-remove'), [])
  assert.deepEqual(await events('invitation-withdraw'), [
    { detail: '{"login":"bob","session":1}' },
    { detail: '{"login":"carol"}' },
  ])
})

test('an invitation to a crate that nobody owns can be taken back', async t => {
  const { test } = await prepared(t, { PLIMSOLL_OWNERS_ADD: 'invite' })
  const { database } = test.registry
  const token = await test.user('root', {}, true)
  await run(database, 'DELETE FROM owners')
  const crate = (await findCrate(database, parseName('demo'))) ?? assert.fail('no crate')
  await inviteOwners(test.registry, crate, ['bob'], operatorChange('2026-11-20T12:00:00Z'))
  const body = JSON.stringify({ users: ['bob'] })
  const answer = await test.request('DELETE', '/api/v1/crates/demo/owners', token, { body })
  assert.deepEqual(await answer.json(), { ok: true, msg: 'removed bob from the owners of `demo`' })
})

test('the audit log says that somebody changes owners as an administrator', async t => {
  for (const way of ['direct', 'invite']) {
    const { test, ask, events } = await prepared(t, { PLIMSOLL_OWNERS_ADD: way })
    const token = await test.user('root', {}, true)
    const root = await loggedIn(test, 'root')
    for (const method of ['PUT', 'DELETE'])
      for (const login of ['bob', 'root']) {
        const body = JSON.stringify({ users: [login] })
        await test.request(method, '/api/v1/crates/demo/owners', token, { body })
      }
    const from = '/me/crates/demo'
    await root.post(`${from}/owners/add`, { login: 'carol' }, { from })
    await root.post(`${from}/owners/remove`, { login: 'carol' }, { from })
    await ask('PUT', { users: ['carol'] })
    const as = (login: string, more = '') => ({
      detail: `{"login":"${login}","as":"administrator"${more}}`,
    })
    // By the page.
    const carol = as('carol', ',"session":1')
    const isAdded = way === 'direct'
    // She removes bob and herself as the owner that she has become.
    const removed = isAdded
      ? [...['bob', 'root'].map(login => ({ detail: `{"login":"${login}"}` })), carol]
      : [as('bob'), as('root'), carol]
    assert.deepEqual(await events(isAdded ? 'owner-add' : 'owner-invite'), [
      ...[as('bob'), as('root'), carol],
      { detail: '{"login":"carol"}' },
    ])
    assert.deepEqual(await events(isAdded ? 'owner-remove' : 'invitation-withdraw'), removed)
  }
})

test('an invitation is good for 30 days, which is told, and inviting again renews it', async t => {
  const { test, ask, events } = await prepared(t, { PLIMSOLL_OWNERS_ADD: 'invite' })
  const day = (count: number) => new Date(Date.parse('2026-11-20T12:00:00Z') + count * 86_400_000)
  const pages = async (now: Date) => {
    test.now = now
    const [bob, alice] = [await loggedIn(test, 'bob'), await loggedIn(test, 'alice')]
    const texts = [
      await (await bob.get('/me')).text(),
      await (await alice.get('/me/crates/demo')).text(),
    ]
    const [told, seen] = texts.map(
      text => /<span class="quiet">[^\n]*expires <time[^>]* datetime="([^"]+)/.exec(text)?.[1],
    )
    return { bob, told, seen }
  }
  test.now = day(0)
  await ask('PUT', { users: ['bob'] })
  const last = await pages(new Date(day(30).getTime() - 1000))
  assert.deepEqual([last.told, last.seen], ['2026-12-20T12:00:00Z', '2026-12-20T12:00:00Z'])
  const gone = await pages(day(30))
  assert.deepEqual([gone.told, gone.seen], [undefined, undefined])
  assert.equal((await gone.bob.post('/me/invitations/demo/accept')).status, 400)
  assert.deepEqual(await ask('PUT', { users: ['alice', 'bob'] }), {
    ok: true,
    msg: 'invited bob to own `demo`; it can be accepted at http://crates.test/me; alice already owns `demo`',
  })
  const renewed = await pages(day(59))
  assert.equal(renewed.told, '2027-01-19T12:00:00Z')
  assert.equal((await renewed.bob.post('/me/invitations/demo/accept')).status, 303)
  assert.deepEqual(await events('owner-add'), [{ detail: '{"login":"bob","session":5}' }])
})

test('who may not change a crate is told of an invitation where there is one', async t => {
  const { test, ask } = await prepared(t, { PLIMSOLL_OWNERS_ADD: 'invite' })
  const token = await test.user('eve')
  const told = async () => {
    const { body } = await test.publish(token, { name: 'demo', version: '2.0.0' })
    const yank = await test.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', token)
    const details = [body, (await yank.json()) as typeof body].map(
      ({ errors }) => errors?.[0]?.detail,
    )
    assert.equal(details[0], details[1])
    return details[0]
  }
  const stranger =
    '`eve` is not an owner of `demo`; ask one of its owners to run `cargo owner --add eve`'
  assert.equal(await told(), stranger)
  await ask('PUT', { users: ['eve'] })
  assert.match(
    (await told()) ?? '',
    /^`eve` is invited to own `demo`, .*; accept the invitation at \/me/,
  )
  await ask('DELETE', { users: ['eve'] })
  assert.equal(await told(), stranger)
})
