// Mirrors daemon/access/rate-limits.ts: logins
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { all } from '../../../generator/database/statement.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn, PASSWORD, Visitor, withPassword } from '../../support/visitor.ts'

/** A registry with alice and bob, 3 logins a minute from one address and 5 to one account. */
async function prepared(t: TestContext, env: Record<string, string> = {}): Promise<TestRegistry> {
  const limits = {
    PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '3',
    PLIMSOLL_LIMITS_ACCOUNT_LOGINS_PER_MINUTE: '5',
  }
  const test = await TestRegistry.open(t, {
    env: { PLIMSOLL_AUTH_PASSWORD_COST: '14', ...limits, ...env },
  })
  for (const login of ['alice', 'bob']) {
    await test.user(login)
    await withPassword(test, login)
  }
  return test
}

function visitorAt(test: TestRegistry, address: string): Visitor {
  const visitor = new Visitor(test)
  visitor.address = address
  return visitor
}

/** The status of the answer to a new browser at an address, by default with the right password. */
async function statusOf(
  test: TestRegistry,
  address: string,
  login: string,
  password = PASSWORD,
): Promise<number> {
  return (await visitorAt(test, address).logIn(login, password)).status
}

/** Guesses the password of a login from new browsers at an address; the statuses of the answers. */
async function guess(
  test: TestRegistry,
  address: string,
  login: string,
  times: number,
): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < times; i++)
    statuses.push(await statusOf(test, address, login, `guess number ${i}`))
  return statuses
}

test('one address has so many attempts, whoever they are for, and a page says when to come again', async t => {
  const test = await prepared(t)
  const here = '198.51.100.7'
  for (const login of ['alice', 'bob', 'nobody'])
    assert.equal(await statusOf(test, here, login, 'x'), 403)
  const refused = await visitorAt(test, here).logIn('carol', 'x')
  assert.deepEqual(
    [refused.status, refused.headers.get('retry-after'), refused.headers.get('content-type')],
    [429, '20', 'text/html; charset=UTF-8'],
  )
  assert.match(
    await refused.text(),
    /Too many attempts to log in in a short time; try again in 20 seconds\./,
  )
  assert.equal(await statusOf(test, '198.51.100.8', 'alice'), 303, 'at another address')
  test.now = new Date(test.now.getTime() + 20_000)
  assert.equal(await statusOf(test, here, 'alice'), 303, 'after the pause')
  assert.equal(await statusOf(test, here, 'alice'), 429, 'one attempt has come back, not two')
})

test('a stranger at one address cannot keep an account from being used anywhere else', async t => {
  const test = await prepared(t)
  const refused = [403, 403, 403, ...Array(7).fill(429)]
  for (let minute = 0; minute < 5; minute++) {
    assert.deepEqual(await guess(test, '203.0.113.1', 'alice', 10), refused)
    assert.equal(await statusOf(test, '198.51.100.7', 'alice'), 303, `minute ${minute}`)
    test.now = new Date(test.now.getTime() + 60_000)
  }
})

test('many addresses together make only so many guesses, and keep no browser out that was in before', async t => {
  const test = await prepared(t)
  const visitor = visitorAt(test, '198.51.100.7')
  assert.equal((await visitor.logIn('alice')).status, 303)
  await visitor.post('/me/logout')
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) statuses.push(...(await guess(test, `203.0.113.${i}`, ' ALICE ', 3)))
  const count = (status: number) => statuses.filter(each => each === status).length
  assert.deepEqual([count(403), count(429)], [4, 14])
  assert.equal(await statusOf(test, '192.0.2.99', 'alice'), 429, 'a browser never seen has to wait')
  assert.equal(await statusOf(test, '192.0.2.99', 'bob'), 303, 'other accounts have not')
  // Wherever it is, also behind the attacker's own address.
  visitor.address = '203.0.113.0'
  assert.equal((await visitor.logIn('alice')).status, 303)
})

test('strangers cannot fill the disk with failed logins; who gets in is always in the audit log', async t => {
  const test = await prepared(t)
  const addressOf = (at: number) => `198.51.${at}.1`
  for (let at = 0; at < 33; at++)
    assert.equal(await statusOf(test, addressOf(at), `nobody${at}`, 'x'), 403)
  assert.equal(await statusOf(test, addressOf(40), 'alice'), 303)
  const logged = `SELECT action, count(*) AS n FROM audit WHERE action LIKE 'login%' GROUP BY action ORDER BY 1`
  assert.deepEqual(await all(test.registry.database, logged), [
    { action: 'login', n: 1 },
    { action: 'login-failed', n: 30 },
  ])
})

test('an account that does not exist is limited like one that does', async t => {
  const test = await prepared(t)
  for (const login of ['alice', 'nobody']) {
    const statuses: number[] = []
    for (let i = 0; i < 3; i++)
      statuses.push(...(await guess(test, `203.0.113.${login.length}${i}`, login, 3)))
    assert.deepEqual(statuses, [403, 403, 403, 403, 403, 429, 429, 429, 429], login)
  }
})

test('a known browser has a limit of its own, for its own account and its own password', async t => {
  const test = await prepared(t)
  const visitor = visitorAt(test, '198.51.100.7')
  await visitor.logIn('alice')
  const cookie = visitor.cookies.get('plimsoll_device') ?? ''
  assert.match(cookie, /^[\w-]{22}\.[\w-]{43}$/)
  /** How many guesses somebody with that cookie has at one address. */
  const guesses = async (address: string, login: string, device: string) => {
    const thief = visitorAt(test, address)
    thief.cookies.set('plimsoll_device', device)
    let count = 0
    while ((await thief.logIn(login, 'not the right one')).status === 403) count++
    return count
  }
  const forged = `${'A'.repeat(22)}.${'A'.repeat(43)}`
  const rows: [what: string, address: string, login: string, device: string, count: number][] = [
    ['known', '203.0.113.1', 'alice', cookie, 3],
    ['the same bucket at another address', '203.0.113.2', 'alice', cookie, 0],
    ["no better than a stranger to another's account", '203.0.113.3', 'bob', cookie, 3],
    ['the bucket of that address', '203.0.113.3', 'bob', cookie, 0],
    ['a forged one is a stranger', '203.0.113.4', 'alice', forged, 3],
    ['another forged one, too', '203.0.113.4', 'alice', forged.replaceAll('A', 'B'), 0],
  ]
  for (const [what, address, login, device, count] of rows)
    assert.equal(await guesses(address, login, device), count, what)
  await withPassword(test, 'alice')
  const after = await guesses('203.0.113.4', 'alice', cookie)
  assert.equal(after, 0, 'a new password makes it a stranger')
})

test('the current password is asked for so many times in one session; others are not held up', async t => {
  const test = await prepared(t)
  const thief = await loggedIn(test, 'alice')
  const owner = await loggedIn(test, 'alice')
  const change = (visitor: Visitor, address: string, current: string) => {
    visitor.address = address
    const password = 'a new good password'
    return visitor.post('/me/password', { current, password, again: password })
  }
  const statuses: number[] = []
  for (let i = 0; i < 5; i++)
    statuses.push((await change(thief, `203.0.113.${i}`, 'not this one')).status)
  assert.deepEqual(statuses, [403, 403, 403, 429, 429])
  assert.equal((await change(owner, '203.0.113.0', PASSWORD)).status, 303)
})

test('guesses from very many addresses fill the queue of hashing, and a browser that was in before passes them', async t => {
  const test = await prepared(t)
  const user = visitorAt(test, '198.51.100.7')
  assert.equal((await user.logIn('alice')).status, 303)
  await user.post('/me/logout')
  await guess(test, '203.0.113.200', 'somebody', 2)
  const strangers = Array.from({ length: 90 }, (_, i) => visitorAt(test, `203.0.113.${i}`))
  const again = visitorAt(test, '203.0.113.200')
  await Promise.all([user, again, ...strangers].map(visitor => visitor.get('/me')))
  const guesses = strangers.map(
    async (visitor, i) => (await visitor.logIn(`login${i}`, 'not the right one')).status,
  )
  const both = [user.logIn('alice'), again.logIn('nobody', 'not the right one')]
  const answers = (await Promise.all(both)).map(({ status }) => status)
  assert.deepEqual(answers, [303, 503], 'known ones first, who has tried before last')
  const statuses = await Promise.all(guesses)
  const count = (status: number) => statuses.filter(each => each === status).length
  assert.equal(count(403) + count(503), 90)
  assert.ok(count(503) > 0, 'the queue was full')
  assert.equal(await statusOf(test, '192.0.2.99', 'bob'), 303, 'and is empty again')
})

test('X-Forwarded-For counts callers only where a proxy is trusted', async t => {
  for (const [trusted, expected] of [
    ['', [403, 403, 403, 429]],
    ['192.0.2.1', [403, 403, 403, 403]],
  ] as const) {
    const test = await prepared(t, { PLIMSOLL_SERVER_TRUSTED_PROXIES: trusted })
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) {
      const visitor = new Visitor(test, { 'x-forwarded-for': `198.51.100.${i}` })
      statuses.push((await visitor.logIn(`guess${i}`, 'x')).status)
    }
    assert.deepEqual(statuses, expected, `trusted: ${trusted}`)
  }
})
