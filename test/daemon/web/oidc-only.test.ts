// Mirrors daemon/web/login.ts where `auth.passwords` is off, and the way to an issuer and back
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireUser } from '../../../generator/accounts/accounts.ts'
import { makeLink } from '../../../generator/accounts/credentials.ts'
import { comeBack, OidcIssuer, sendTo } from '../../support/oidc-issuer.ts'
import { OPERATOR, oidcRegistry, said } from '../../support/oidc-registry.ts'
import { form, loggedIn, PASSWORD, Visitor, withPassword } from '../../support/visitor.ts'

const ADA = { sub: 'e-1', preferred_username: 'ada' }
const OFF = { PLIMSOLL_AUTH_PASSWORDS: 'off' }

const locationOf = (answer: Response) => answer.headers.get('location') ?? ''

test('the only issuer is gone to at once, once a visit', async t => {
  const { issuer, test } = await oidcRegistry(t, { title: 'Acme <&> Co' }, OFF)
  const visitor = new Visitor(test)
  const start = locationOf(await visitor.get('/me?next=%2Fcrates%2F'))
  assert.equal(start, '/me/oidc/company?next=%2Fcrates%2F')
  const location = locationOf(await visitor.get(start))
  // Sent back without a login, nobody goes round and round.
  const denied = new URLSearchParams({
    error: 'access_denied',
    error_description: 'Not <b>today</b>',
    state: new URL(location).searchParams.get('state') ?? '',
  })
  const refusal = await comeBack(visitor, denied)
  const text = await refusal.clone().text()
  assert.match(await said(refusal), /did not let you in: access_denied Not &lt;b&gt;today/)
  assert.match(
    text,
    /href="\/me\/oidc\/company\?next=%2Fcrates%2F">Log in with Acme &lt;&amp;&gt; Co</,
  )
  const again = await visitor.get('/me')
  assert.equal(again.status, 200)
  assert.doesNotMatch(await again.text(), /type="password"|\/me\/login/)
  const back = await comeBack(visitor, issuer.grant(await sendTo(visitor), ADA))
  assert.equal(locationOf(back), '/me')
  // After a logout, the button is there; another visit goes at once again.
  assert.equal((await visitor.post('/me/logout')).status, 303)
  assert.equal((await visitor.get('/me')).status, 200)
  assert.equal((await new Visitor(test).get('/me')).status, 303)
  // Whom another site sends here first shows the cookies that are only for this one.
  const linked = await new Visitor(test).get('/me', { 'sec-fetch-site': 'cross-site' })
  assert.match(await linked.text(), /http-equiv="refresh"/)
})

test('two issuers have a button each, and passwords a form beside them', async t => {
  const guests = await OidcIssuer.start(t)
  const { test } = await oidcRegistry(t, {}, guests.settings('guests', { title: 'Guests' }))
  const text = await (await new Visitor(test).get('/me')).text()
  assert.match(text, /Log in with company<.*Log in with Guests</s)
  assert.match(text, /type="password"/)
  assert.equal((await new Visitor(test).get('/me/oidc/none')).status, 404)
  assert.equal((await new Visitor(test).get('/me/oidc/constructor')).status, 404)
})

test('without passwords, nobody has or uses one; a link leads in for one session', async t => {
  const { test, issuer } = await oidcRegistry(t, {}, OFF)
  const { database, settings } = test.registry
  await withPassword(test, 'owner')
  const before = await loggedIn(test, 'owner')
  assert.equal((await before.get('/me')).status, 303, 'a session of a password has ended')
  const visitor = new Visitor(test)
  await visitor.get('/me')
  const csrf = /name="csrf" value="([^"]+)"/
  const page = await (await visitor.get('/me')).text()
  assert.doesNotMatch(page, csrf)
  const secret = await makeLink(database, await requireUser(database, 'owner'), test.now, OPERATOR)
  const path = `/me/password?link=${secret}`
  const proof = await visitor.proof(path)
  const login = { login: 'owner', password: PASSWORD, csrf: proof }
  const answer = await visitor.send('/me/login', { method: 'POST', body: form(login) })
  assert.match(await said(answer), /Nobody logs in with a password here/)
  // Two ways in by one link, of which one is too late.
  const reset = { reset: secret, csrf: proof }
  const used = await visitor.send('/me/password', { method: 'POST', body: form(reset) })
  assert.equal(locationOf(used), '/me')
  const home = await (await visitor.get('/me')).text()
  assert.match(home, /<h1>owner/)
  assert.doesNotMatch(home, /type="password"/)
  const change = { current: PASSWORD, password: 'another good one', again: 'another good one' }
  assert.match(await said(await visitor.post('/me/password', change)), /Nobody logs in with a pass/)
  // Administrators are offered no password, either.
  const users = '/me/admin/users'
  const shown = await (await visitor.get(users)).text()
  assert.deepEqual([/Login link/.test(shown), /password/i.test(shown)], [true, false])
  const asked = await (await visitor.get(`${users}/owner/reset`)).text()
  assert.match(asked, /You get a link for owner, which logs owner in once/)
  const made = await visitor.post(`${users}/owner/reset`, {}, { from: users })
  assert.match(await made.text(), /It logs them in and works once/)
  const late = new Visitor(test)
  assert.match(await said(await late.get(path)), /link is not valid/)
  assert.equal(settings.auth.passwords, 'off')
  assert.ok(issuer)
})

test('an issuer that is away ends no session, and says so to who wants a new one', async t => {
  const { issuer, test, logIn } = await oidcRegistry(t)
  const visitor = await logIn(ADA)
  for (const path of ['/token', '/keys', '/.well-known/openid-configuration'])
    issuer.answers.set(path, request => void request.socket.destroy())
  assert.match(await (await visitor.get('/me')).text(), /<h1>ada/)
  const other = new Visitor(test)
  const query = issuer.grant(await sendTo(other), ADA)
  const answer = await comeBack(other, query)
  assert.equal(answer.status, 503)
  assert.match(await said(answer), /cannot be asked right now/)
})
