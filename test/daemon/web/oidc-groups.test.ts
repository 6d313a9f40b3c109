// Mirrors generator/accounts/groups.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp } from '../../../core/timestamp.ts'
import { acting, addUser, requireUser, setLocked } from '../../../generator/accounts/accounts.ts'
import { setMember, titleGroup } from '../../../generator/accounts/groups.ts'
import { linkIdentity, moveIssuer } from '../../../generator/accounts/oidc-identities.ts'
import { column, run } from '../../../generator/database/statement.ts'
import { openRegistry } from '../../../generator/open.ts'
import { groupsOf } from '../../../generator/records/groups.ts'
import { canAct, isOwner } from '../../../generator/records/owners.ts'
import { removeUser } from '../../../generator/registry/changes/users.ts'
import { readStatus, warningsOf } from '../../../generator/status.ts'
import { DAY, OPERATOR, oidcRegistry, said } from '../../support/oidc-registry.ts'
import { loggedIn } from '../../support/visitor.ts'

const ADA = { sub: 'e-1', preferred_username: 'ada' }

test('a group owns a crate: its members do, as of their last login', async t => {
  const registry = await oidcRegistry(
    t,
    {},
    {
      PLIMSOLL_OWNERS_ADD: 'invite',
      PLIMSOLL_OWNERS_PUBLIC: 'true',
    },
  )
  const { test, logIn, tokenOf, publish, owners } = registry
  const visitor = await logIn({ ...ADA, groups: ['rust', 'c++', '/acme/devs'] })
  const token = await tokenOf('ada')
  assert.match(await publish(token, '1.1.0'), /not an owner/)
  // At once, also where users are invited.
  const now = '{"ok":true,"msg":"group:/acme/devs now owns `keel`"}'
  assert.equal(await owners('PUT', 'group:/acme/devs'), now)
  const root = await loggedIn(test, 'owner')
  const added = await root.post('/me/crates/keel/owners/add', { login: 'group:rust' })
  assert.match(added.headers.get('location') ?? '', /done=owner-added$/)
  assert.match(await owners('DELETE', 'group:rust'), /"ok":true/)
  assert.equal(await publish(token, '1.1.0'), 'published')
  const yank = (path: string, method: string) =>
    test.request(method, `/api/v1/crates/keel/1.1.0/${path}`, token)
  assert.deepEqual(await (await yank('yank', 'DELETE')).json(), { ok: true })
  const list = await test.request('GET', '/api/v1/crates/keel/owners', token)
  const { users } = (await list.json()) as { users: { id: number; login: string }[] }
  assert.deepEqual(
    users.map(({ id, login }) => [id, login]),
    [
      [1, 'owner'],
      [2 ** 31 + 1, 'group:/acme/devs'],
    ],
  )
  // Who owns through what is shown.
  assert.match(
    await (await visitor.get('/me')).text(),
    />keel<\/a> <span class="quiet">through group:\/acme\/devs/,
  )
  assert.match(await (await visitor.get('/me/crates/keel')).text(), /group:\/acme\/devs/)
  await titleGroup(test.registry, '/acme/devs', 'The <b>Devs</b>', OPERATOR)
  await test.indexWorker.settle()
  await test.indexWorker.pages.flush()
  assert.match(await test.text('crates/keel/index.html'), /group:\/acme\/devs.*The &lt;b&gt;Devs/)
  const found = await test.request('GET', '/search/?owner=group:%2Facme%2Fdevs', token)
  assert.match(await found.text(), /1 crate with owner “group:\/acme\/devs”[\s\S]*>keel</)
  // A login without the claim ends them.
  await logIn(ADA)
  assert.match(await publish(token, '1.2.0'), /not an owner/)
  await logIn({ ...ADA, groups: ['acme/devs', '/acme/devs ', '/ACME/devs', '/acme', 'devs'] })
  assert.match(await publish(token, '1.2.0'), /not an owner/)
  await logIn({ ...ADA, groups: '/acme/devs' })
  assert.equal(await publish(token, '1.2.0'), 'published')
})

test('a group is no user, and a name that nobody has is no group', async t => {
  const { test, logIn, tokenOf, publish, owners, logins } = await oidcRegistry(t)
  // Somebody whose name is that of a group, and a group whose name is that of somebody.
  await logIn({ ...ADA, preferred_username: 'group:rust', nickname: 'ada', groups: ['owner'] })
  assert.deepEqual(await logins(), ['owner', 'ada'])
  assert.match(await publish(await tokenOf('ada'), '1.1.0'), /not an owner/)
  assert.match(
    await owners('PUT', 'group:rust'),
    /nobody who has logged in has the group `group:rust`/,
  )
  assert.match(await owners('PUT', 'group:company/rust'), /nobody who has logged in has/)
  assert.match(await owners('PUT', 'group:'), /nobody who has logged in has/)
  assert.match(await owners('PUT', 'group:constructor/x'), /nobody who has logged in has/)
  assert.match(await owners('PUT', 'owner', 'group:owner'), /group:owner now owns/)
  assert.equal(await publish(await tokenOf('ada'), '1.1.0'), 'published')
  assert.match(await owners('DELETE', 'group:owner'), /removed group:owner/)
  assert.match(await publish(await tokenOf('ada'), '1.2.0'), /not an owner/)
  assert.ok(test)
})

test('a claim never adds to a group that was made by hand', async t => {
  const { test, logIn, tokenOf, publish, owners } = await oidcRegistry(t)
  const { registry } = test
  await addUser(registry.database, { login: 'bob', admin: false }, OPERATOR)
  assert.equal(await setMember(registry, 'ops', 'bob', true, OPERATOR), true)
  assert.equal(await setMember(registry, 'local/ops', 'bob', true, OPERATOR), false)
  await logIn({ ...ADA, groups: ['ops', 'local/ops', 'ops\nrust', 'x'.repeat(501), 'ok'] })
  assert.match(await owners('PUT', 'group:ops'), /write `group:company\/ops` or `group:local\/ops`/)
  await owners('PUT', 'group:local/ops')
  assert.equal(await publish(await tokenOf('bob'), '1.1.0'), 'published')
  const token = await tokenOf('ada')
  assert.match(await publish(token, '1.2.0'), /not an owner/)
  await assert.rejects(
    setMember(registry, 'company/ops', 'bob', true, OPERATOR),
    /group of the issuer/,
  )
  await setMember(registry, 'ops', 'bob', false, OPERATOR)
  assert.match(await publish(await tokenOf('bob'), '1.3.0'), /not an owner/)
  const actions = 'SELECT action FROM audit WHERE action >= ? AND action < ? ORDER BY id'
  const events = await column(registry.database, actions, 'group-', 'group-b')
  assert.deepEqual(events, ['group-add'])
  // Names that would stand for several, or for none, are left out.
  const { id } = await requireUser(registry.database, 'ada')
  const groups = (await groupsOf(registry.database, id)).values()
  assert.deepEqual([...groups], [['ops', 'local/ops', 'ok']])
})

test('groups count by the settings in force, not by those at the login', async t => {
  const partner = { issuer: 'https://partner.example', client_id: 'plimsoll' }
  const env = {
    PLIMSOLL_OIDC_PARTNER_ISSUER: partner.issuer,
    PLIMSOLL_OIDC_PARTNER_CLIENT_ID: partner.client_id,
  }
  const { issuer, test, logIn, tokenOf, publish, owners } = await oidcRegistry(t, {}, env)
  const { database } = test.registry
  await logIn({ ...ADA, groups: ['rust'] })
  await owners('PUT', 'group:rust')
  // Another issuer keeps the account in force.
  test.now = new Date(test.now.getTime() + 8 * DAY)
  await linkIdentity(database, 'ada', { issuer: partner.issuer, subject: 'p-1' }, OPERATOR)
  const here = 'UPDATE identities SET logged_in_at = ? WHERE issuer = ?'
  await run(database, here, timestamp(test.now), partner.issuer)
  const token = await tokenOf('ada')
  assert.equal(await publish(token, '1.1.0'), 'published')
  const open = async (days: string | null) => {
    const company = days === null ? {} : issuer.settings('company', { token_days: days })
    await (await openRegistry(test.dir, { env: { ...env, ...company } })).close()
  }
  for (const [at, [days, told]] of [
    ['7', /not an owner/],
    ['30', /published/],
    [null, /not an owner/],
    ['0', /published/],
  ].entries() as Iterable<[number, [string | null, RegExp]]>) {
    await open(days)
    assert.match(await publish(token, `1.2.${at}`), told, `${days}`)
  }
  const to = 'https://login.example.com'
  await moveIssuer(database, issuer.url, to, OPERATOR)
  const moved = { PLIMSOLL_OIDC_COMPANY_ISSUER: to, PLIMSOLL_OIDC_COMPANY_CLIENT_ID: 'plimsoll' }
  await (await openRegistry(test.dir, { env: { ...env, ...moved } })).close()
  assert.equal(await publish(token, '1.3.0'), 'published')
})

test('groups that are too many to be told stay as they were', async t => {
  const { test, logIn, refused, tokenOf, publish, owners } = await oidcRegistry(t)
  const overage = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } }
  const many = Array.from({ length: 3000 }, (_, i) => `group-with-a-long-name-${i}`)
  await logIn({ ...ADA, ...overage })
  const { id } = await requireUser(test.registry.database, 'ada')
  assert.deepEqual([...(await groupsOf(test.registry.database, id))], [])
  await logIn({ ...ADA, groups: ['rust'] })
  await owners('PUT', 'group:rust')
  for (const claims of [
    overage,
    { hasgroups: true },
    { groups: ['rust', ...many] },
    { groups: many },
  ]) {
    await logIn({ ...ADA, ...claims })
    assert.equal(await publish(await tokenOf('ada'), `1.1.${many.length--}`), 'published')
  }
  assert.match(test.logText(), /the issuer has more groups of this user than it says/)
  const said = await column(
    test.registry.database,
    "SELECT detail FROM audit WHERE action = 'group-overage'",
  )
  assert.equal(said.length, 5)
  assert.ok(refused)
})

test('the last owner is a user who can act, or a group with one in it', async t => {
  const { test, logIn, owners } = await oidcRegistry(t, { token_days: '7' })
  const { registry } = test
  const { database } = registry
  await logIn({ ...ADA, groups: ['rust'] })
  await owners('PUT', 'group:rust')
  const removed = (await owners('DELETE', 'owner')).includes('"ok":true')
  assert.equal(removed, true)
  const stuck = async () => {
    const status = await readStatus(registry, test.now, 100)
    return [status.crates_stuck, warningsOf(status).some(text => text.includes('`/me`: keel'))]
  }
  assert.deepEqual((await stuck())[0], [])
  // The only member has not logged in for a week.
  test.now = new Date(test.now.getTime() + 8 * DAY)
  assert.deepEqual((await stuck())[0], ['keel'])
  await addUser(database, { login: 'bob', admin: false }, OPERATOR)
  assert.match(await owners('PUT', 'bob'), /"ok":true/)
  assert.deepEqual((await stuck())[0], [])
  await setLocked(test.registry, await requireUser(database, 'bob'), true, OPERATOR)
  assert.deepEqual((await stuck())[0], ['keel'])
  assert.match(await owners('DELETE', 'group:rust'), /would have no owner left/)
  await logIn({ ...ADA, groups: ['rust'] })
  assert.match(await owners('DELETE', 'bob'), /"ok":true/)
  assert.match(await owners('DELETE', 'group:rust'), /would have no owner left/)
  const { id } = await requireUser(database, 'ada')
  assert.ok(id)
  const root = await loggedIn(test, 'owner')
  const form = { login: 'group:rust' }
  const refusal = await root.post('/me/crates/keel/owners/remove', form, {
    from: '/me/crates/keel',
  })
  assert.match(await said(refusal), /would have no owner left/)
  await removeUser(registry, await requireUser(database, 'bob'), OPERATOR)
})

test('groups that a clock which was years ahead gave count no more, also for who can act', async t => {
  const { test, logIn, tokenOf, publish, owners } = await oidcRegistry(t)
  const { registry } = test
  const { database } = registry
  await logIn({ ...ADA, groups: ['rust'] })
  await owners('PUT', 'group:rust')
  const { id } = await requireUser(database, 'ada')
  const then = test.now
  const at = (time: Date) => time.toISOString().replace(/\.\d+/, '')
  test.now = new Date(then.getTime() + 7300 * DAY)
  await logIn({ ...ADA, groups: ['rust'] })
  assert.deepEqual([...(await groupsOf(database, id, at(test.now))).values()], [['rust']])
  test.now = then
  // Another issuer keeps the account in force.
  const link = { issuer: 'https://partner.example', subject: 'p-1', loggedIn: at(then) }
  await linkIdentity(database, 'ada', link, OPERATOR)
  const { settings } = registry
  const issuer = { ...(settings.oidc.company ?? assert.fail()), issuer: link.issuer }
  const token = await tokenOf('ada')
  assert.deepEqual([...(await groupsOf(database, id, at(then)))], [])
  assert.equal(await isOwner(database, 1, id, at(then)), false)
  const rules = { ...settings, oidc: { ...settings.oidc, partner: issuer } }
  const able = (now: Date) => canAct(database, 1, acting(rules, now), at(now), 1)
  assert.equal(await able(then), false)
  await logIn({ ...ADA, groups: ['rust'] })
  assert.equal(await able(then), true)
  assert.equal(await publish(token, '1.1.0'), 'published')
})
