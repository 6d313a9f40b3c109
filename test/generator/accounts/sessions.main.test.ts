import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import { sha256 } from '../../../core/sha256.ts'
import { findUser, setLocked, type User } from '../../../generator/accounts/accounts.ts'
import { setPassword } from '../../../generator/accounts/credentials.ts'
import { all, column, one, type Row } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn, PASSWORD, Visitor, withPassword } from '../../support/visitor.ts'

const AT = '2026-11-20T12:00:00Z'

const UNLIMITED = {
  PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '0',
  PLIMSOLL_LIMITS_ACCOUNT_LOGINS_PER_MINUTE: '0',
}

/** A registry with alice, who has a password and, where wanted, settings of its own. */
async function prepared(t: TestContext, env: Record<string, string> = {}): Promise<TestRegistry> {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_AUTH_PASSWORD_COST: '14', ...env } })
  await test.user('alice')
  await withPassword(test, 'alice')
  return test
}

/** Whether a visitor is logged in: others are asked to do so. */
const isIn = async (visitor: Visitor) => (await visitor.get('/me/crates/none')).status === 404

/** Moves the clock. */
function pass(test: TestRegistry, hours: number): void {
  test.now = new Date(test.now.getTime() + hours * 3_600_000)
}

async function userOf(test: TestRegistry, login: string): Promise<User> {
  return (await findUser(test.registry.database, login)) ?? assert.fail(login)
}

/** From now on counts what scrypt is asked to do; each call gives the sum of N since the one before. */
function countHashing(t: TestContext): () => number {
  let sum = 0
  const real = crypto.scrypt
  const counting = (...args: Parameters<typeof real>) => {
    sum += args[3].N ?? 0
    return real(...args)
  }
  t.mock.method(crypto, 'scrypt', counting as typeof real)
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return () => {
    const before = sum
    sum = 0
    return before
  }
}

test('the cookie of a login is for http only, for this site only, and over https for https only', async t => {
  const rows: [base: string, name: string, where: string][] = [
    ['http://crates.test', 'plimsoll_session', 'Path=/; HttpOnly'],
    ['https://crates.test', '__Host-plimsoll_session', 'Path=/; HttpOnly; Secure'],
    ['https://x.test/sub', '__Secure-plimsoll_session', 'Path=/sub/; HttpOnly; Secure'],
  ]
  for (const [base, name, where] of rows) {
    const rest = `Max-Age=300; ${where}; SameSite=Strict`
    const env = { PLIMSOLL_REGISTRY_BASE_URL: base, PLIMSOLL_AUTH_SESSION_SECONDS: '300' }
    const test = await prepared(t, env)
    const response = await new Visitor(test).logIn('alice')
    const [cookie = ''] = response.headers.getSetCookie().filter(line => line.includes('session'))
    const [, cookieName, secret = '', attributes] = /^([^=]+)=([\w-]+); (.*)$/.exec(cookie) ?? []
    assert.deepEqual([cookieName, attributes], [name, rest])
    assert.equal(secret.length, 43)
    const device = response.headers.getSetCookie().find(line => line.includes('_device='))
    const kept = `${name.replace('session', 'device')}=[\\w-]{22}\\.[\\w-]{43}; ${rest.replace('=300', '=34560000')}`
    assert.match(device ?? '', new RegExp(`^${kept}$`))
    const shown = response.headers.getSetCookie().find(line => line.includes('_user='))
    const user = `${name.replace('session', 'user')}=alice; ${rest.replace(' HttpOnly;', '')}`
    assert.equal(shown, user)
    const row = await one(test.registry.database, 'SELECT hash, expires_at FROM sessions')
    assert.deepEqual(row, { hash: sha256(secret), expires_at: '2026-11-20T12:05:00Z' })
  }
})

test('a login gets a new id, whatever the browser came with, and the old one is worth nothing', async t => {
  const test = await prepared(t)
  const visitor = await loggedIn(test, 'alice')
  const before = visitor.cookies.get('plimsoll_session') ?? ''
  await visitor.logIn('alice')
  assert.notEqual(visitor.cookies.get('plimsoll_session'), before)
  const thief = new Visitor(test)
  thief.cookies.set('plimsoll_session', before)
  assert.equal(await isIn(thief), false)
})

test('a session ends at its time, by logging out, by another session, by a new password and by a lock', async t => {
  const test = await prepared(t)
  const { database } = test.registry
  const user = await userOf(test, 'alice')
  const ends: [what: string, end: (visitor: Visitor) => Promise<unknown>][] = [
    ['logout', visitor => visitor.post('/me/logout')],
    [
      'another session',
      async () => {
        const newest = 'SELECT id FROM sessions ORDER BY id DESC'
        const { id } = await one<Pick<Row<'sessions'>, 'id'>>(database, newest)
        await (await loggedIn(test, 'alice')).post(`/me/sessions/${id}/end`)
      },
    ],
    ['a new password', () => withPassword(test, 'alice')],
    [
      'a lock',
      async () => {
        await setLocked(test.registry, user, true, operatorChange(AT))
        await setLocked(test.registry, user, false, operatorChange(AT))
      },
    ],
    ['its time', async () => pass(test, 1)],
  ]
  for (const [what, end] of ends) {
    const visitor = await loggedIn(test, 'alice')
    const cookie = visitor.cookies.get('plimsoll_session') ?? ''
    assert.equal(await isIn(visitor), true, what)
    await end(visitor)
    visitor.cookies.set('plimsoll_session', cookie)
    assert.equal(await isIn(visitor), false, what)
  }
})

test('a session that is not used ends before its time; one that is used ends at it', async t => {
  const env = { PLIMSOLL_AUTH_SESSION_SECONDS: '10d', PLIMSOLL_AUTH_SESSION_IDLE_SECONDS: '2d' }
  const test = await prepared(t, env)
  const [idle, used] = [new Visitor(test), new Visitor(test)]
  for (const visitor of [idle, used]) assert.equal((await visitor.logIn('alice')).status, 303)
  pass(test, 47)
  assert.equal(await isIn(used), true)
  pass(test, 1)
  assert.equal(await isIn(idle), false)
  const page = await (await used.get('/me')).text()
  assert.doesNotMatch(page, /\/me\/sessions\/\d+\/end/, 'the idle one is not listed')
  for (let day = 3; day <= 9; day++) {
    pass(test, 24)
    assert.equal(await isIn(used), true, `day ${day}`)
  }
  pass(test, 23)
  assert.equal(await isIn(used), true)
  pass(test, 1)
  assert.equal(await isIn(used), false, 'however much it was used')
})

test('no login with the old password outlives a new one, however long it waits to be hashed', async t => {
  const test = await prepared(t, UNLIMITED)
  const logins = Array.from({ length: 16 }, () => new Visitor(test).logIn('alice'))
  await withPassword(test, 'alice', 'a newer good one')
  const answers = await Promise.all(logins)
  assert.ok(
    answers.some(answer => answer.status === 403),
    'some had to wait',
  )
  assert.deepEqual(await all(test.registry.database, 'SELECT id FROM sessions'), [])
})

test('a button ends all other sessions of its user, and is there when there are any', async t => {
  const test = await prepared(t)
  await test.user('bob')
  const here = await loggedIn(test, 'alice')
  const button = /<a [^>]*href="\/me\/sessions\/end"/
  assert.doesNotMatch(await (await here.get('/me')).text(), button, 'nothing to end')
  const others = [await loggedIn(test, 'alice'), await loggedIn(test, 'alice')]
  const bob = await loggedIn(test, 'bob')
  assert.match(await (await here.get('/me')).text(), button)
  assert.equal((await here.post('/me/sessions/end', { csrf: 'made up' })).status, 403)
  assert.equal(await isIn(others[0] ?? here), true, 'a form that is none of ours ends nothing')
  const done = (await here.post('/me/sessions/end')).headers.get('location') ?? ''
  const left = await Promise.all([here, bob, ...others].map(isIn))
  assert.deepEqual(left, [true, true, false, false])
  assert.match(await (await here.get(done)).text(), /Every other session of alice has ended\./)
  // Where none ended, none is noted.
  await here.post('/me/sessions/end')
  const sql = `SELECT actor, detail FROM audit WHERE action = 'session-end'`
  assert.deepEqual(await all(test.registry.database, sql), [
    { actor: 'alice', detail: '{"login":"alice","sessions":2,"session":1}' },
  ])
  const logins = `SELECT detail FROM audit WHERE action = 'login' AND actor = 'alice'`
  assert.deepEqual(
    await column(test.registry.database, logins),
    [1, 2, 3].map(session => JSON.stringify({ session })),
  )
})

test('nobody learns who has an account: answers are the same, and so is the work of hashing', async t => {
  const test = await prepared(t, { ...UNLIMITED, PLIMSOLL_AUTH_PASSWORD_COST: '15' })
  const { database } = test.registry
  for (const login of ['locked-out', 'older', 'newer', 'passwordless']) await test.user(login)
  await withPassword(test, 'locked-out')
  await test.user('root', {}, true)
  await setLocked(test.registry, await userOf(test, 'locked-out'), true, operatorChange(AT))
  const withCost = async (login: string, cost: number) => {
    const user = await userOf(test, login)
    await setPassword(database, user, { password: PASSWORD, cost }, operatorChange(AT))
  }
  await withCost('older', 14)
  const hashed = countHashing(t)
  const wrong = { alice: 'wrong one here', 'locked-out': PASSWORD, older: 'wrong one here' }
  const tries = { ...wrong, passwordless: PASSWORD, 'nobody-here': PASSWORD, __proto__x: PASSWORD }
  const work = async (effort: number) => {
    const texts = new Set<string>()
    for (const [login, password] of Object.entries(tries)) {
      const visitor = new Visitor(test)
      const csrf = await visitor.proof()
      const response = await visitor.post('/me/login', { login, password, csrf })
      assert.equal(response.status, 403, login)
      const text = (await response.text()).replaceAll(`value="${login}"`, 'LOGIN')
      texts.add(text.replaceAll(/csrf" value="[^"]+"/g, 'csrf'))
      assert.equal(hashed(), 2 ** effort, login)
    }
    assert.equal(texts.size, 1)
  }
  await work(15)
  await withCost('newer', 16)
  hashed()
  await work(16)
})

test('a failed login is noted with the account it was about, and with nothing else that was typed', async t => {
  const test = await prepared(t)
  const visitor = new Visitor(test)
  visitor.address = '198.51.100.7'
  await visitor.logIn('ALICE', 'not the right one')
  await visitor.logIn('my secret password', 'x')
  const sql = `SELECT actor, detail, address FROM audit WHERE action = 'login-failed' ORDER BY id`
  assert.deepEqual(await all(test.registry.database, sql), [
    { actor: 'unknown', detail: '{"login":"alice"}', address: '198.51.100.7' },
    { actor: 'unknown', detail: null, address: '198.51.100.7' },
  ])
})

test('an id in an address is plain digits', async t => {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  const alice = await loggedIn(test, 'alice')
  for (const id of ['0x1', '1e0', '+1', '%201', '01', '1.0', '-1', '0', '9'.repeat(30)]) {
    assert.equal((await alice.post(`/me/sessions/${id}/end`)).status, 400, id)
    assert.equal((await alice.post(`/me/tokens/${id}/revoke`)).status, 400, id)
  }
  assert.equal((await alice.post('/me/tokens/1/revoke')).status, 303)
  assert.equal((await alice.post('/me/sessions/1/end')).status, 303)
})

test('a user has 50 sessions; one more ends the session unused for longest', async t => {
  const test = await prepared(t)
  const first = await loggedIn(test, 'alice')
  for (let count = 1; count < 50; count++) await loggedIn(test, 'alice')
  assert.equal(await isIn(first), true)
  await loggedIn(test, 'alice')
  assert.equal(await isIn(first), false)
})

test('a password has 10 to 200 characters', async t => {
  const test = await prepared(t)
  const alice = await userOf(test, 'alice')
  const set = (length: number) => {
    const password = 'ab'.repeat(length / 2)
    return setPassword(test.registry.database, alice, { password, cost: 14 }, operatorChange(AT))
  }
  await set(200)
  await assert.rejects(set(202), /at most 200/)
  await assert.rejects(set(8), /at least 10/)
})

test('logins at the same time succeed after the cost of passwords has changed', async t => {
  const test = await prepared(t, { ...UNLIMITED, PLIMSOLL_AUTH_PASSWORD_COST: '15' })
  const order = { password: PASSWORD, cost: 14 }
  const alice = await userOf(test, 'alice')
  await setPassword(test.registry.database, alice, order, operatorChange(AT))
  const visitors = [new Visitor(test), new Visitor(test), new Visitor(test)]
  const answers = await Promise.all(visitors.map(visitor => visitor.logIn('alice')))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303, 303],
  )
  for (const visitor of visitors) assert.equal(await isIn(visitor), true)
})
