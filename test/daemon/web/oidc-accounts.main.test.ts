// Mirrors generator/accounts/oidc/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addUser,
  findUser,
  listUsers,
  requireUser,
  setLocked,
  storedPassword,
} from '../../../generator/accounts/accounts.ts'
import { makeLink } from '../../../generator/accounts/credentials.ts'
import {
  linkIdentity,
  listAccess,
  moveIssuer,
  unlinkIdentity,
} from '../../../generator/accounts/oidc-identities.ts'
import { all, value } from '../../../generator/database/statement.ts'
import { groupsOf } from '../../../generator/records/groups.ts'
import { removeUser, renameUser } from '../../../generator/registry/changes/users.ts'
import { comeBack, logInAt, OidcIssuer, sendTo } from '../../support/oidc-issuer.ts'
import { DAY, OPERATOR, oidcRegistry, said } from '../../support/oidc-registry.ts'
import { loggedIn, PASSWORD, Visitor, withPassword } from '../../support/visitor.ts'

const ADA = { sub: 'e-1', preferred_username: 'ada' }

test('an account is named once, and never like somebody else', async t => {
  const { test, logins, logIn, refused } = await oidcRegistry(t)
  const { database } = test.registry
  for (const login of ['grace', 'linus']) await addUser(database, { login, admin: false }, OPERATOR)
  await removeUser(test.registry, await requireUser(database, 'grace'), OPERATOR)
  await renameUser(test.registry, await requireUser(database, 'linus'), 'torvalds', OPERATOR)
  const names = [
    ['admin', 'admin2'],
    ['Operator', 'Operator2'],
    ['local@acme.test', 'local2'],
    ['unknown', 'unknown2'],
    ['command-line', 'command-line2'],
    ['owner', 'owner2'],
    ['0wner', '0wner3'],
    ['ownner', 'ownner4'],
    ['onwer', 'onwer4'],
    ['OWNER@acme.test', 'OWNER5'],
    ['grace', 'grace2'],
    ['linus', 'linus2'],
  ] as const
  for (const [at, [claim, login]] of names.entries()) {
    await logIn({ sub: `s${at}`, preferred_username: claim })
    assert.equal((await logins()).at(-1), login, claim)
  }
  // Who was removed is not made anew.
  await removeUser(test.registry, await requireUser(database, 'grace2'), OPERATOR)
  assert.match(await refused({ sub: 's10', preferred_username: 'grace' }), /locked here/)
  await logIn({ sub: 'n1', preferred_username: '-- none --', nickname: 'nick' })
  assert.equal((await logins()).at(-1), 'nick')
  // The audit log calls jobs `rule 3`.
  for (const [at, claim] of ['rule', 'Rule-3', 'ru1e_7', 'rule.'].entries())
    assert.match(await refused({ sub: `r${at}`, preferred_username: claim }), /none of the claims/i)
  await logIn({ sub: 'r9', preferred_username: 'ruler' })
  assert.equal((await logins()).at(-1), 'ruler')
  assert.match(await refused({ sub: 'n2' }), /none of the claims in `?login_claims`? gives/i)
})

test('two first logins at once make one account', async t => {
  const { issuer, test, logins } = await oidcRegistry(t)
  const visitors = [new Visitor(test), new Visitor(test)]
  const queries = await Promise.all(
    visitors.map(async visitor => issuer.grant(await sendTo(visitor), ADA)),
  )
  const answers = await Promise.all(
    visitors.map((visitor, at) => comeBack(visitor, queries[at] ?? '')),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303],
  )
  assert.deepEqual(await logins(), ['owner', 'ada'])
})

test('a subject is one of an issuer, and so is a group', async t => {
  const guests = await OidcIssuer.start(t)
  const registry = await oidcRegistry(t, {}, guests.settings('guests'))
  const { logins, logIn, tokenOf, publish, owners } = registry
  await logIn({ ...ADA, groups: ['rust'] })
  await logIn({ ...ADA, preferred_username: 'eve', groups: ['rust'] }, 'guests', guests)
  assert.deepEqual(await logins(), ['owner', 'ada', 'eve'])
  assert.match(
    await owners('PUT', 'group:rust'),
    /two groups have the name `rust`: write `group:company\/rust` or `group:guests\/rust`/,
  )
  assert.match(await owners('PUT', 'group:company/rust'), /"ok":true/)
  assert.equal(await publish(await tokenOf('ada'), '1.1.0'), 'published')
  assert.match(await publish(await tokenOf('eve'), '1.2.0'), /not an owner|owns/)
})

test('whoever is locked while the code is on its way is not logged in', async t => {
  const { issuer, test, logIn } = await oidcRegistry(t)
  const { database } = test.registry
  await logIn(ADA)
  const visitor = new Visitor(test)
  const query = issuer.grant(await sendTo(visitor), ADA)
  const lock = async () =>
    setLocked(test.registry, await requireUser(database, 'ada'), true, OPERATOR)
  await lock()
  assert.match(await said(await comeBack(visitor, query)), /account is locked here/)
  assert.equal(visitor.cookies.has('plimsoll_session'), false)
})

test('tokens and sessions end with the account, and a link leads in without the issuer', async t => {
  const { issuer, test, logIn, tokenOf, publish } = await oidcRegistry(t, { token_days: '7' })
  const { database } = test.registry
  const session = await logIn(ADA)
  const token = await tokenOf('ada')
  const machine = await tokenOf('owner')
  assert.equal(await publish(token, '1.0.0', 'ada-one'), 'published')
  const start = test.now
  test.now = new Date(start.getTime() + 7 * DAY - 60_000)
  assert.equal(await publish(token, '1.0.1', 'ada-one'), 'published')
  assert.match(await (await session.get('/me')).text(), /<h1>ada/)
  test.now = new Date(start.getTime() + 7 * DAY)
  assert.equal(
    await publish(token, '1.0.2', 'ada-one'),
    'this token is good, but its account has to show that it is still one of the company: log in once at http://crates.test/me, then try again',
  )
  assert.doesNotMatch(await (await session.get('/me')).text(), /<h1>ada/)
  // Accounts that no issuer has go on.
  assert.equal(await publish(machine, '1.1.0'), 'published')
  const user = await requireUser(database, 'ada')
  const secret = await makeLink(database, user, test.now, OPERATOR)
  const linked = new Visitor(test)
  await linked.post(
    '/me/password',
    { reset: secret, password: PASSWORD, again: PASSWORD },
    { from: `/me/password?link=${secret}` },
  )
  assert.match(await (await linked.get('/me')).text(), /<h1>ada/)
  assert.match(await publish(token, '1.0.2', 'ada-one'), /log in once/)
  // A password is no login at the issuer.
  const other = new Visitor(test)
  assert.match(await said(await other.logIn('ada')), /has to log in at its issuer again/)
  await logInAt(test, issuer, ADA)
  assert.equal(await publish(token, '1.0.2', 'ada-one'), 'published')
  await setLocked(test.registry, user, true, OPERATOR)
  assert.match(await publish(token, '1.0.3', 'ada-one'), /the account is locked/)
})

test('what a login at an issuer vouched for ends with the link', async t => {
  const guests = await OidcIssuer.start(t)
  const registry = await oidcRegistry(t, {}, guests.settings('guests'))
  const { issuer, test, logIn, tokenOf, publish, owners } = registry
  const { database } = test.registry
  // An account that was made by a login, and one whose wrong link lets somebody else in.
  const ada = await logIn({ ...ADA, groups: ['rust'] })
  await owners('PUT', 'group:rust')
  const ben = await addUser(database, { login: 'ben', admin: false }, OPERATOR)
  await withPassword(test, 'ben')
  const wrong = { issuer: issuer.url, subject: 'm-1', keepPassword: true }
  await linkIdentity(database, 'ben', wrong, OPERATOR)
  await linkIdentity(database, 'ben', { issuer: guests.url, subject: 'b-1' }, OPERATOR)
  const mallory = await logIn({ sub: 'm-1' })
  const [hers, his] = [await tokenOf('ada'), await tokenOf('ben')]
  assert.equal(await publish(hers, '1.1.0'), 'published')
  assert.equal(await publish(his, '1.0.0', 'bens'), 'published')
  // Whoever is on the way back from the issuer when the link ends, is not let in.
  const begun = issuer.grant(await sendTo(mallory), { sub: 'm-1' })
  const adaUser = await requireUser(database, 'ada')
  assert.equal(await unlinkIdentity(database, adaUser, issuer.url, OPERATOR), 1)
  assert.equal(await unlinkIdentity(database, ben, issuer.url, OPERATOR), 1)
  assert.match(await publish(hers, '1.2.0'), /unknown or revoked/)
  assert.match(await publish(his, '1.0.1', 'bens'), /unknown or revoked/)
  for (const visitor of [ada, mallory])
    assert.doesNotMatch(await (await visitor.get('/me')).text(), /<h1>(?:ada|ben)/)
  await comeBack(mallory, begun)
  assert.doesNotMatch(await (await mallory.get('/me')).text(), /<h1>ben/)
  // A login there makes another account, without the crates of the first one's group.
  await logIn({ ...ADA, groups: [] })
  assert.match(await publish(await tokenOf('ada2'), '1.2.0'), /not an owner/)
})

test('of two issuers the younger login counts, and groups end with their own', async t => {
  const guests = await OidcIssuer.start(t)
  const env = guests.settings('guests', { token_days: '30' })
  const registry = await oidcRegistry(t, { token_days: '7' }, env)
  const { test, logIn, tokenOf, publish, owners } = registry
  const visitor = await logIn({ ...ADA, groups: ['rust'] })
  const link = guests.grant(await sendTo(visitor, 'guests', '?link=1'), { sub: 'g-7' })
  assert.equal(
    (await comeBack(visitor, link, 'guests')).headers.get('location'),
    '/me?done=identity-linked',
  )
  await owners('PUT', 'group:rust')
  const token = await tokenOf('ada')
  assert.equal(await publish(token, '1.1.0'), 'published')
  test.now = new Date(test.now.getTime() + 10 * DAY)
  assert.equal(await publish(token, '1.0.0', 'ada-one'), 'published')
  // Who has left the company is in its groups no more.
  assert.match(await publish(token, '1.2.0'), /`ada`|not an owner/)
  test.now = new Date(test.now.getTime() + 21 * DAY)
  assert.match(await publish(token, '1.0.1', 'ada-one'), /log in once/)
})

test('an account is linked by its owner, which ends its password and other sessions', async t => {
  const { issuer, test, logins, logIn } = await oidcRegistry(t)
  const { database } = test.registry
  await addUser(database, { login: 'bob', admin: false }, OPERATOR)
  await withPassword(test, 'bob')
  const [here, before] = [await loggedIn(test, 'bob'), await loggedIn(test, 'bob')]
  const query = issuer.grant(await sendTo(here, 'company', '?link=1'), { sub: 'b-1' })
  const answer = await comeBack(here, query)
  assert.equal(answer.headers.get('location'), '/me?done=identity-linked')
  assert.match(await (await here.get('/me')).text(), /<h1>bob/)
  assert.doesNotMatch(await (await before.get('/me')).text(), /<h1>bob/)
  assert.equal(await storedPassword(database, 'bob'), null)
  assert.match(await said(await new Visitor(test).logIn('bob')), /password is wrong/)
  await logIn({ sub: 'b-1', preferred_username: 'robert' })
  assert.deepEqual(await logins(), ['owner', 'bob'])
  // What somebody has is not linked to another account, nor from another session.
  const owner = await loggedIn(test, 'owner')
  const taken = issuer.grant(await sendTo(owner, 'company', '?link=1'), { sub: 'b-1' })
  assert.match(await said(await comeBack(owner, taken)), /`?bob`? has this identity already/)
  const begun = issuer.grant(await sendTo(owner, 'company', '?link=1'), { sub: 'b-2' })
  const session = (await loggedIn(test, 'bob')).cookies.get('plimsoll_session') ?? ''
  owner.cookies.set('plimsoll_session', session)
  assert.match(await said(await comeBack(owner, begun)), /begun in another browser/)
  // Whose session has ended is not logged in to another account instead.
  const ended = await new Visitor(test).get('/me/oidc/company?link=1')
  assert.equal(ended.headers.get('location'), '/me')
})

test('an administrator links accounts, also with their passwords', async t => {
  const { issuer, test, logIn, tokenOf, publish, logins } = await oidcRegistry(t)
  const { database } = test.registry
  await addUser(database, { login: 'bob', admin: false }, OPERATOR)
  await addUser(database, { login: 'robot', admin: false, machine: true }, OPERATOR)
  await withPassword(test, 'bob')
  const token = await tokenOf('bob')
  const root = await loggedIn(test, 'owner')
  const from = { from: '/me/admin/users' }
  const link = (login: string, fields: Record<string, string>) =>
    root.post(`/me/admin/users/${login}/link`, fields, from)
  const linked = await link('bob', { issuer: 'company', subject: 'b-1', keep: '1' })
  const location = linked.headers.get('location') ?? ''
  assert.equal(location, '/me/admin/users?done=user-linked')
  assert.match(await (await root.get(location)).text(), /role="status">bob is linked: its owner/)
  // Only a login there counts, not that somebody was linked.
  assert.match(await publish(token, '1.0.0', 'bob-one'), /log in once/)
  assert.match(await said(await new Visitor(test).logIn('bob')), /log in at its issuer again/)
  await logIn({ sub: 'b-1' })
  assert.equal(await publish(token, '1.0.0', 'bob-one'), 'published')
  assert.equal((await new Visitor(test).logIn('bob')).status, 303)
  for (const [login, fields, told] of [
    ['robot', { issuer: 'company', subject: 'r-1' }, /account of a machine/],
    ['owner', { issuer: 'constructor', subject: 'o-1' }, /no section/],
    ['owner', { issuer: 'company', subject: ' ' }, /belong together/],
    ['owner', { issuer: 'company', subject: 'b-1' }, /has this identity already/],
  ] as const)
    assert.match(await said(await link(login, fields)), told)
  assert.deepEqual(await logins(), ['owner', 'bob', 'robot'])
  assert.equal((await requireUser(database, 'robot')).machine, true)
  await assert.rejects(makeLink(database, await requireUser(database, 'robot'), test.now, OPERATOR))
  assert.ok(issuer)
})

test('who may log in is said by claims and groups', async t => {
  const { logins, logIn, refused } = await oidcRegistry(t, {
    require: 'hd=acme.com,hd=acme.de,email_verified=true,level=3',
    allowed_groups: 'staff,/rust/core',
    groups_claim: '/realm_access/roles',
    subject_claim: 'oid',
  })
  const good = {
    ...ADA,
    oid: 'oid-1',
    hd: ['other.example', 'acme.de'],
    email_verified: true,
    level: 3,
    realm_access: { roles: ['/rust/core'] },
  }
  await logIn(good)
  assert.deepEqual(await logins(), ['owner', 'ada'])
  for (const [claims, told] of [
    [{ hd: 'acme.com.evil.example' }, /claim `?hd`?/],
    [{ hd: undefined }, /claim `?hd`?/],
    [{ email_verified: 'false' }, /claim `?email_verified`?/],
    [{ level: [4, { three: 3 }] }, /claim `?level`?/],
    [{ realm_access: { roles: ['rust'] } }, /none of the groups/],
    [{ realm_access: 'staff', roles: ['staff'] }, /none of the groups/],
    [{ oid: undefined }, /no claim `?oid`?/],
    [{ oid: ['oid-1', 'oid-2'] }, /no claim `?oid`?/],
  ] as const)
    assert.match(await refused({ ...good, sub: 'e-2', ...claims }), told)
  assert.deepEqual(await logins(), ['owner', 'ada'])
})

test('somebody who was removed comes back by a link to another account', async t => {
  const { issuer, test, logIn, logins, refused } = await oidcRegistry(t)
  const { database } = test.registry
  await logIn(ADA)
  await removeUser(test.registry, await requireUser(database, 'ada'), OPERATOR)
  await refused(ADA)
  assert.deepEqual(await logins(), ['owner', 'ada'])
  await addUser(database, { login: 'ada-again', admin: false }, OPERATOR)
  const identity = { issuer: issuer.url, subject: 'e-1' }
  await linkIdentity(database, 'ada-again', identity, OPERATOR)
  assert.match(await said(await (await logIn(ADA)).get('/me')), /ada-again/)
  await assert.rejects(linkIdentity(database, 'owner', identity, OPERATOR), /ada-again/)
})

test('who is in none of the allowed groups any more keeps nothing of the last login', async t => {
  const settings = { allowed_groups: 'staff', admin_groups: 'root', token_days: '0' }
  const { test, logIn, refused, tokenOf, publish, owners } = await oidcRegistry(t, settings)
  const { database } = test.registry
  const ada = await logIn({ ...ADA, groups: ['staff', 'rust'] })
  await owners('PUT', 'group:rust')
  const token = await tokenOf('ada')
  assert.equal(await publish(token, '1.1.0'), 'published')
  assert.match(await refused({ ...ADA, groups: ['rust'] }), /none of the groups/)
  assert.match(await publish(token, '1.2.0'), /log in once/)
  assert.match(await said(await ada.get('/me')), /Log in/)
  const { id } = await requireUser(database, 'ada')
  assert.deepEqual([...(await groupsOf(database, id)).values()].flat(), [])
  await logIn({ ...ADA, groups: ['staff'] })
  assert.match(await publish(token, '1.2.0'), /owner/)
})

test('`admin_groups` decides at each login, and `provision` whether there is a first one', async t => {
  const { issuer, test, logIn, refused } = await oidcRegistry(t, {
    admin_groups: 'root',
    provision: 'false',
  })
  const { database } = test.registry
  const refusal = await refused(ADA)
  assert.match(refusal, /There is no account here for yours/)
  assert.match(refusal, /user link NAME --issuer company --subject e-1/)
  await addUser(database, { login: 'bob', admin: false }, OPERATOR)
  await linkIdentity(database, 'bob', { issuer: issuer.url, subject: 'e-1' }, OPERATOR)
  const isAdmin = async () => (await findUser(database, 'bob'))?.admin
  await logIn({ ...ADA, groups: ['root'] })
  assert.equal(await isAdmin(), true)
  await logIn({ ...ADA, groups: ['staff'] })
  assert.equal(await isAdmin(), false)
})

test('each claim is that of the ID token, else that of userinfo', async t => {
  const { issuer, test, logIn, logins } = await oidcRegistry(t)
  const { database } = test.registry
  issuer.userinfo = { sub: 'e-1', name: 'Of userinfo', groups: ['more'], nickname: 'nick' }
  await logIn({ ...ADA, groups: ['rust'] })
  const { id, name } = await requireUser(database, 'ada')
  assert.equal(name, 'Of userinfo')
  assert.deepEqual([...(await groupsOf(database, id)).values()], [['rust']])
  await logIn({ sub: 'e-1' })
  assert.deepEqual([...(await groupsOf(database, id)).values()], [['more']])
  assert.deepEqual(await logins(), ['owner', 'ada'])
})

test('accounts, groups and owners follow an issuer to another URL', async t => {
  const { issuer, test, logIn, owners } = await oidcRegistry(t)
  const { database } = test.registry
  await logIn({ ...ADA, groups: ['rust'] })
  await owners('PUT', 'group:rust')
  const to = 'https://login.example.com'
  await addUser(database, { login: 'bob', admin: false }, OPERATOR)
  await linkIdentity(database, 'bob', { issuer: to, subject: 'e-1' }, OPERATOR)
  const rows = () => all(database, 'SELECT issuer, subject FROM identities ORDER BY issuer')
  const before = await rows()
  await assert.rejects(moveIssuer(database, issuer.url, to, OPERATOR), /have an account `e-1`/)
  assert.deepEqual(await rows(), before)
  await linkIdentity(database, 'owner', { issuer: `${to}/`, subject: 'o' }, OPERATOR)
  assert.deepEqual(await moveIssuer(database, issuer.url, `${to}/`, OPERATOR), {
    accounts: 1,
    groups: 1,
  })
  const group = 'SELECT issuer FROM groups JOIN group_owners ON group_id = id'
  assert.equal(await value(database, group), `${to}/`)
  await assert.rejects(moveIssuer(database, issuer.url, to, OPERATOR), /no account or group/)
})

test('what somebody made who has left is shown beside them', async t => {
  const { test, logIn } = await oidcRegistry(t, { admin_groups: 'root' })
  const { registry } = test
  const ada = await logIn({ ...ADA, groups: ['root'] })
  const from = { from: '/me/admin/users' }
  await ada.post('/me/admin/users/add', { login: 'bob' }, from)
  const user = await requireUser(registry.database, 'ada')
  const by = { at: OPERATOR.at, actor: 'ada', who: 'user', user, tokenId: null } as const
  const change = { ...by, stillMay: async () => user }
  await addUser(registry.database, { login: 'robot', admin: false, machine: true }, change)
  const left = async () => {
    const all = await listUsers(registry.database)
    const users = await listAccess(registry.database, registry.settings, test.now, all)
    return users.find(({ login }) => login === 'ada')?.made
  }
  assert.deepEqual(await left(), [])
  await setLocked(registry, user, true, OPERATOR)
  assert.deepEqual(await left(), ['account robot', 'password link of bob'])
  const page = await (await loggedIn(test, 'owner')).get('/me/admin/users')
  assert.match(await page.text(), /has left behind: account robot, password link of bob/)
})

test('the address to come back to is the public one, also under a path', async t => {
  const base = 'https://example.test/reg'
  const { issuer, test } = await oidcRegistry(t, {}, { PLIMSOLL_REGISTRY_BASE_URL: base })
  const visitor = new Visitor(test)
  const location = await sendTo(visitor)
  const asked = new URL(location).searchParams.get('redirect_uri')
  assert.equal(asked, `${base}/me/oidc/company/callback`)
  const answer = await comeBack(visitor, issuer.grant(location, ADA))
  assert.equal(answer.headers.get('location'), '/reg/me')
  const posted = issuer.asked.find(({ path }) => path === '/token')?.body
  assert.equal(new URLSearchParams(posted).get('redirect_uri'), asked)
  assert.match(await (await visitor.get('/reg/me')).text(), /<h1>ada/)
})
