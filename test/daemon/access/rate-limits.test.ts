import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { RateLimit } from '../../../daemon/access/rate-limits.ts'
import { addressGroup, clientAddress } from '../../../daemon/http/client-address.ts'
import { withoutReadingTime } from '../../support/reading-time.ts'
import { TestRegistry } from '../../support/registry.ts'
import { publishRequest } from '../../support/release.ts'
import { loggedIn } from '../../support/visitor.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

test("a minute's worth comes at once, then one after the other", () => {
  const limit = new RateLimit(3)
  const four = (at: Date) => [1, 2, 3, 4].map(() => limit.take('a', at).wait)
  assert.deepEqual(four(NOW), [0, 0, 0, 20])
  assert.equal(limit.take('b', NOW).wait, 0)
  assert.equal(limit.take('a', after(19)).wait, 1)
  assert.equal(limit.take('a', after(20)).wait, 0)
  assert.equal(limit.take('a', after(20)).wait, 20)
  assert.deepEqual(four(after(1000)), [0, 0, 0, 20])
})

test('a clock that is set back gives nothing; 0 is no limit', () => {
  const limit = new RateLimit(1)
  const waits = [NOW, after(-3600), after(-3540)].map(at => limit.take('a', at).wait)
  assert.deepEqual(waits, [0, 60, 0])
  const none = new RateLimit(0)
  for (let i = 0; i < 1000; i++) assert.equal(none.take('a', NOW).wait, 0)
  assert.equal(none.size, 0)
})

test('what is owed is waited for', () => {
  const limit = new RateLimit(60)
  assert.equal(limit.owe('a', 59, NOW), 0)
  assert.equal(limit.owe('a', 30, NOW), 30)
  const waits = [NOW, after(29), after(30)].map(at => limit.take('a', at).wait)
  assert.deepEqual(waits, [30, 1, 0])
  assert.equal(new RateLimit(0).owe('a', 1000, NOW), 0)
})

test('no more callers are remembered than fit, the one not heard of for longest goes first', () => {
  const limit = new RateLimit(1, 100)
  limit.take('first', NOW)
  for (let i = 0; i < 99; i++) limit.take(`other ${i}`, NOW)
  assert.equal(limit.take('first', NOW).wait, 60)
  for (let i = 0; i < 50; i++) limit.take(`more ${i}`, NOW)
  assert.equal(limit.size, 100)
  assert.equal(limit.take('first', NOW).wait, 60)
  assert.equal(limit.take('other 0', NOW).wait, 0)
})

test('X-Forwarded-For is believed as far as proxies are trusted', async () => {
  const rows: [trusted: string[], peer: string, forwarded: string | null, address: string][] = [
    [[], '10.0.0.1', '198.51.100.7', '10.0.0.1'],
    [['10.0.0.0/8'], '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    [['10.0.0.0/8'], '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    [['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, 198.51.100.7', '198.51.100.7'],
    [['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, 198.51.100.7, 10.9.9.9', '198.51.100.7'],
    [['10.0.0.0/8'], '10.0.0.1', 'nonsense, 10.9.9.9', '10.9.9.9'],
    [['10.0.0.0/8'], '10.0.0.1', null, '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    [['::1'], '::1', '[2001:db8::7]:443', '2001:db8::7'],
    [['127.0.0.1'], '127.0.0.1', '127.0.0.1', '127.0.0.1'],
  ]
  for (const [trusted, peer, forwarded, address] of rows) {
    const find = clientAddress(trusted)
    const app = new Hono().get('/', c => c.text(find(c)))
    const headers = forwarded === null ? {} : { 'x-forwarded-for': forwarded }
    const env = { incoming: { socket: { remoteAddress: peer } } }
    const response = await app.request('/', { headers }, env)
    assert.equal(await response.text(), address, JSON.stringify([trusted, peer, forwarded]))
  }
})

test('one subscriber of IPv6 is one caller', () => {
  const rows: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
  ]
  for (const [address, group] of rows) assert.equal(addressGroup(address), group, address)
})

test('publishes, changes, searches and other reads have their limits; the index has none', async t => {
  const env = {
    PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '2',
    PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '1',
    PLIMSOLL_LIMITS_SEARCHES_PER_MINUTE: '2',
  }
  const test = await TestRegistry.open(t, { env })
  const [alice, bob] = [await test.user('alice'), await test.user('bob')]
  const put = (token: string, name: string) =>
    test.request('PUT', '/api/v1/crates/new', token, {
      body: publishRequest({ name, version: '1.0.0' }),
    })
  const publish = (name: string) => withoutReadingTime(() => put(alice, name))
  const statuses = async (...asks: (() => Promise<Response>)[]) => {
    const statuses: number[] = []
    for (const ask of asks) statuses.push((await ask()).status)
    return statuses
  }
  for (const name of ['one', 'two']) assert.equal((await publish(name)).status, 200)
  const third = await put(alice, 'three')
  const detail = 'too many publishes in a short time; try again in 30 seconds'
  assert.deepEqual(
    [third.status, third.headers.get('retry-after'), await third.json()],
    [429, '30', { errors: [{ detail }] }],
  )
  assert.equal((await put(bob, 'three')).status, 200)
  const yank = () => test.request('DELETE', '/api/v1/crates/one/1.0.0/yank', alice)
  assert.deepEqual(await statuses(yank, yank), [200, 429])
  for (const path of ['/api/v1/crates?q=one', '/api/v1/crates/one/versions']) {
    const ask = () => test.request('GET', path)
    assert.deepEqual(await statuses(ask, ask, ask), [200, 200, 429], path)
  }
  for (let i = 0; i < 200; i++)
    assert.equal((await test.request('GET', '/index/3/o/one')).status, 200)
})

test('a crate has only so many new versions within 24 hours; what is there already may come again', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_LIMITS_VERSIONS_PER_DAY: '2' } })
  const token = await test.user('alice')
  const publish = (version: string) => test.publish(token, { name: 'demo', version })
  const versions = ['1.0.0', '1.0.1', '1.0.2', '1.0.3']
  const together = (await Promise.all(versions.map(publish))).map(({ status }) => status)
  assert.deepEqual(together.toSorted(), [200, 200, 429, 429])
  const there = versions[together.indexOf(200)] ?? ''
  assert.deepEqual((await publish(there)).body.errors, undefined)
  assert.equal((await test.publish(token, { name: 'other', version: '1.0.0' })).status, 200)
  test.now = new Date(test.now.getTime() + 86_400_000)
  assert.equal((await publish('2.0.0')).status, 200)
})

test('what is changed in a browser counts with what is changed by Cargo, and is refused on a page', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '4' } })
  const token = await test.user('alice')
  await test.user('bob')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const visitor = await loggedIn(test, 'alice')
  const invite = JSON.stringify({ users: ['bob'] })
  const added = await test.request('PUT', '/api/v1/crates/demo/owners', token, { body: invite })
  assert.equal(added.status, 200)
  const pages = ['/me/tokens', '/me/crates/demo/owners/remove', '/me/crates/demo/owners/add']
  const statuses: number[] = []
  for (const path of pages)
    statuses.push((await visitor.post(path, { access: 'full', name: 'one', login: 'bob' })).status)
  assert.deepEqual(statuses, [200, 303, 303])
  const refused = await visitor.post('/me/tokens', { access: 'full', name: 'two' })
  assert.deepEqual(
    [refused.status, refused.headers.get('retry-after'), refused.headers.get('content-type')],
    [429, '15', 'text/html; charset=UTF-8'],
  )
  assert.match(await refused.text(), /Too many changes in a short time; try again in 15 seconds\./)
  assert.equal((await visitor.get('/me')).status, 200, 'looking is not changing')
  const bob = await loggedIn(test, 'bob')
  assert.equal((await bob.post('/me/tokens', { access: 'full', name: 'three' })).status, 200)
  test.now = after(15)
  assert.equal((await visitor.post('/me/tokens', { access: 'full', name: 'two' })).status, 200)
})

test('who uses up the changes with a stolen token cannot keep its owner from revoking it', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '1' } })
  const token = await test.user('alice')
  const [visitor, other] = [await loggedIn(test, 'alice'), await loggedIn(test, 'alice')]
  const yank = async () =>
    (await test.request('DELETE', '/api/v1/crates/none/1.0.0/yank', token)).status
  await yank()
  assert.equal(await yank(), 429)
  assert.equal((await visitor.post('/me/sessions/2/end')).status, 303)
  assert.match(await (await other.get('/me')).text(), /<h1>Log in<\/h1>/)
  assert.equal((await visitor.post('/me/sessions/end')).status, 303)
  assert.equal((await visitor.post('/me/tokens', { access: 'full', name: 'one' })).status, 429)
  assert.equal((await visitor.post('/me/tokens/1/revoke')).status, 303)
  assert.equal(await yank(), 403)
})

test('nobody makes more tokens than limits.tokens_per_user; revoked ones do not count', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_LIMITS_TOKENS_PER_USER: '2' } })
  await test.user('alice')
  const visitor = await loggedIn(test, 'alice')
  const make = (name: string) => visitor.post('/me/tokens', { access: 'full', name })
  assert.equal((await make('second')).status, 200)
  const refused = await make('third')
  assert.equal(refused.status, 400)
  assert.match(
    await refused.text(),
    /A user may have at most 2 tokens \(.*\); revoke one that is no longer used\./,
  )
  assert.equal((await visitor.post('/me/tokens/1/revoke')).status, 303)
  assert.equal((await make('third')).status, 200)
})

test('a user has only so many new crates within 24 hours; new versions of them are another matter', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_LIMITS_NEW_CRATES_PER_DAY: '2' } })
  const [alice, bob] = [await test.user('alice'), await test.user('bob')]
  const publish = (name: string, version = '1.0.0', token = alice) =>
    test.publish(token, { name, version })
  const names = ['one', 'two', 'three', 'four']
  const answers = await Promise.all(names.map(name => publish(name)))
  const together = answers.map(({ status }) => status)
  assert.deepEqual(together.toSorted(), [200, 200, 429, 429])
  const there = names[together.indexOf(200)] ?? ''
  assert.equal((await publish(there, '1.0.1')).status, 200)
  assert.equal((await publish(there)).status, 200, 'a retry')
  assert.equal((await publish('five', '1.0.0', bob)).status, 200)
  test.now = after(86_399)
  const refused = await test.request('PUT', '/api/v1/crates/new', alice, {
    body: publishRequest({ name: 'six', version: '1.0.0' }),
  })
  const detail =
    '`alice` has published 2 new crates within 24 hours, which is the limit; publish again later'
  assert.deepEqual(
    [refused.status, refused.headers.get('retry-after'), await refused.json()],
    [429, '1', { errors: [{ detail }] }],
  )
  test.now = after(86_400)
  assert.equal((await publish('six')).status, 200)
})
