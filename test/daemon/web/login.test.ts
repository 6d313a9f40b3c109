import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findUser, setLocked } from '../../../generator/accounts/accounts.ts'
import { makeLink } from '../../../generator/accounts/credentials.ts'
import { all, type Row } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn, PASSWORD, Visitor, withPassword } from '../../support/visitor.ts'

const NEXT = 'a new good password'
const AT = '2026-11-20T12:00:00Z'
const UNLIMITED = {
  PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '0',
  PLIMSOLL_LIMITS_ACCOUNT_LOGINS_PER_MINUTE: '0',
}

/** A registry with alice, who has a password. */
async function prepared(t: TestContext): Promise<TestRegistry> {
  const test = await TestRegistry.open(t, {
    env: { PLIMSOLL_AUTH_PASSWORD_COST: '14', ...UNLIMITED },
  })
  await test.user('alice')
  await withPassword(test, 'alice')
  return test
}

test('after a login one goes on to a path of ours, and nowhere else', async t => {
  const test = await prepared(t)
  const rows: [next: string, location: string][] = [
    ['/crates/demo/?tab=deps', '/crates/demo/?tab=deps'],
    ['https://evil.example/', '/me'],
    ['//evil.example/', '/me'],
    ['/\\evil.example', '/me'],
    ['/\t/evil.example', '/me'],
    ['/.//evil.example', '/me'],
    ['/x\r\nset-cookie: a=b', '/xset-cookie:%20a=b'],
    ['javascript:alert(1)', '/me'],
    ['', '/me'],
  ]
  for (const [next, location] of rows) {
    const what = JSON.stringify(next)
    const fields = { login: 'alice', password: PASSWORD, next }
    const { status, headers } = await new Visitor(test).post('/me/login', fields)
    assert.deepEqual([status, headers.get('location')], [303, location], what)
    const shown = await (await loggedIn(test, 'alice')).get(`/me?next=${encodeURIComponent(next)}`)
    assert.equal(shown.headers.get('location'), location === '/me' ? null : location, what)
  }
})

test('a password with something behind it is another one, be it only a NUL', async t => {
  const test = await prepared(t)
  const status = async (password: string) =>
    (await new Visitor(test).post('/me/login', { login: 'alice', password })).status
  assert.equal(await status(PASSWORD), 303)
  for (const more of ['\0', ' ']) assert.equal(await status(PASSWORD + more), 403)
})

test('a one-time link sets a password once, within a day, and a weak password does not use it up', async t => {
  const test = await prepared(t)
  const { database } = test.registry
  const user = await findUser(database, 'alice')
  assert.ok(user)
  const link = () => makeLink(database, user, test.now, operatorChange(AT))
  const redeem = async (reset: string, password: string, again = password) => {
    const visitor = new Visitor(test)
    return visitor.post('/me/password', { reset, password, again })
  }
  const replaced = await link()
  const secret = await link()
  const stored = await all<Row<'password_links'>>(database, 'SELECT * FROM password_links')
  assert.equal(JSON.stringify(stored).includes(secret), false)
  assert.equal((await redeem(replaced, NEXT)).status, 403)
  for (const weak of ['short', 'alice12', `${NEXT}\0`])
    assert.equal((await redeem(secret, weak)).status, 400, weak)
  assert.equal((await redeem(secret, NEXT, 'another')).status, 400)
  const both = [redeem(secret, NEXT), redeem(secret, 'another password')]
  const statuses = (await Promise.all(both)).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [303, 403])
  assert.equal((await redeem(secret, NEXT)).status, 403)
  const late = await link()
  test.now = new Date(test.now.getTime() + 86_400_000)
  const expired = await redeem(late, NEXT)
  assert.equal(expired.status, 403)
  assert.match(await expired.text(), /This link has expired/)
  const last = await link()
  await setLocked(test.registry, user, true, operatorChange(AT))
  const locked = await redeem(last, NEXT)
  assert.equal(locked.status, 403)
  assert.match(await locked.text(), /account of this link is locked/)
})

test('who changes the password shows the current one', async t => {
  const test = await prepared(t)
  const visitor = await loggedIn(test, 'alice')
  const change = (current: string) =>
    visitor.post('/me/password', { current, password: NEXT, again: NEXT })
  assert.equal((await change('not this one')).status, 403)
  // Whoever has taken over a session is seen guessing.
  const guesses = `SELECT actor, address, detail FROM audit WHERE action = 'password-wrong'`
  assert.deepEqual(await all(test.registry.database, guesses), [
    { actor: 'alice', address: '192.0.2.1', detail: '{"login":"alice","session":1}' },
  ])
  const right = await change(PASSWORD)
  assert.deepEqual(
    [right.status, right.headers.get('location')],
    [303, '/me?done=password-changed'],
  )
  assert.equal((await visitor.get('/me')).status, 200)
  assert.equal((await new Visitor(test).logIn('alice')).status, 403)
  assert.equal((await new Visitor(test).logIn('alice', NEXT)).status, 303)
})

test('what somebody calls themselves, or their browser, is text on a page and nothing more', async t => {
  const test = await prepared(t)
  const agent = '<img src=x onerror=alert(1)>'
  const visitor = new Visitor(test, { 'user-agent': agent })
  await visitor.logIn('alice')
  const name = '"><script>alert(1)</script>'
  const text = await (await visitor.post('/me/tokens', { access: 'full', name })).text()
  assert.equal(text.includes('<script>alert'), false)
  assert.equal(text.includes('<img src=x'), false)
  const again = await (await visitor.get('/me?done=<script>alert(1)</script>')).text()
  assert.equal(again.includes('<script>alert'), false)
})

test('a link from another site does not ask somebody to log in who is logged in', async t => {
  const test = await prepared(t)
  const stranger = new Visitor(test)
  const bounced = await stranger.get('/me?next=%2F', { 'sec-fetch-site': 'cross-site' })
  assert.match(await bounced.text(), /http-equiv="refresh" content="0; url=\/me\?next=%2F"/)
  const asked = await stranger.get('/me?next=%2F', { 'sec-fetch-site': 'same-origin' })
  assert.match(await asked.text(), /<h1>Log in<\/h1>/)
})

test('a one-time link in a mail sets a password in a browser that is logged in', async t => {
  const test = await prepared(t)
  const { database } = test.registry
  const user = (await findUser(database, 'alice')) ?? assert.fail()
  const reset = await makeLink(database, user, test.now, operatorChange(AT))
  const path = `/me/password?link=${reset}`
  const visitor = await loggedIn(test, 'alice')
  // What a browser sends where another site has the link: no cookie of ours.
  const kept = [...visitor.cookies]
  visitor.cookies.clear()
  const opened = await visitor.get(path, { 'sec-fetch-site': 'cross-site' })
  for (const [name, value] of kept) visitor.cookies.set(name, value)
  const reloads = (await opened.clone().text()).includes(`content="0; url=${path}"`)
  const shown = reloads ? await visitor.get(path, { 'sec-fetch-site': 'same-origin' }) : opened
  const csrf = /name="csrf" value="([^"]+)"/.exec(await shown.text())?.[1] ?? ''
  const answer = await visitor.post('/me/password', { csrf, reset, password: NEXT, again: NEXT })
  assert.equal(answer.status, 303)
  for (const { headers } of [opened, shown])
    assert.equal(headers.get('referrer-policy'), 'strict-origin')
})

test('a link from another site leaves a form to log in, open in another tab, as it is', async t => {
  const test = await prepared(t)
  const visitor = new Visitor(test)
  const csrf = await visitor.proof()
  const kept = [...visitor.cookies]
  visitor.cookies.clear()
  for (const path of ['/me', '/me/crates/demo', '/me/password?link=x'])
    await visitor.get(path, { 'sec-fetch-site': 'cross-site' })
  for (const [name, value] of kept) if (!visitor.cookies.has(name)) visitor.cookies.set(name, value)
  const answer = await visitor.post('/me/login', { csrf, login: 'alice', password: PASSWORD })
  assert.equal(answer.status, 303)
})
