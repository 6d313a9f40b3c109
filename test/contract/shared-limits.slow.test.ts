// Mirrors daemon/access/rate-limits.ts: limits that daemons of one database have together.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { RateLimit, SharedRateLimit } from '../../daemon/access/rate-limits.ts'
import { addUser } from '../../generator/accounts/accounts.ts'
import { setPassword } from '../../generator/accounts/credentials.ts'
import { deleteOldBuckets } from '../../generator/accounts/rate-limits.ts'
import type { Database } from '../../generator/database/connection.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import { column, value } from '../../generator/database/statement.ts'
import { openRegistry } from '../../generator/open.ts'
import { operatorChange } from '../../generator/records/change.ts'
import { Cluster, firstToken, publish, shownVersions, yank } from '../support/cluster.ts'
import { serverSettings } from '../support/engine.ts'
import type { Daemon } from '../support/plimsoll.ts'
import { execute } from '../support/postgres.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { BASE } from '../support/release.ts'
import { PASSWORD, Visitor } from '../support/visitor.ts'

const { server, skip } = postgresSuite()

const NOW = new Date('2026-11-20T12:00:00Z')
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

async function open(t: TestContext, name: string): Promise<Database> {
  const database = await openPostgres(serverSettings(await server.create(name)))
  t.after(() => database.close())
  return database
}

/** Another one after each change of a row. */
const VERSION = 'SELECT CAST(CAST(xmin AS text) AS bigint) FROM rate_limits'

const buckets = (database: Database) => value<number>(database, 'SELECT count(*) FROM rate_limits')

test('a shared limit gives what one in memory gives', { skip }, async t => {
  const database = await open(t, 'same')
  for (const perMinute of [1, 3, 7, 300]) {
    const memory = new RateLimit(perMinute)
    const shared = [0, 1].map(() => new SharedRateLimit(database, `${perMinute}`, perMinute))
    let [at, state] = [0, perMinute]
    for (let step = 0; step < 400; step++) {
      // Pauses of no time, of parts of a token, and of more than a minute.
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      at += [0, 0, 0, 1, 7, 20, 90][state % 7] ?? 0
      const key = `user ${state % 2}`
      const limit = shared[step % 2] as SharedRateLimit
      const expected = memory.take(key, later(at))
      assert.deepEqual(await limit.take(key, later(at)), expected, `${perMinute}, step ${step}`)
    }
  }
})

test('what is owed is waited for as in memory', { skip }, async t => {
  const memory = new RateLimit(60)
  const shared = new SharedRateLimit(await open(t, 'owed'), 'publish', 60)
  for (const at of [0, 10, 20, 80, 500]) {
    assert.deepEqual(await shared.take('a', later(at)), memory.take('a', later(at)), `${at}`)
    const owed = memory.owe('a', 45, later(at + 1))
    assert.equal(await shared.owe('a', 45, later(at + 1)), owed, `${at}`)
  }
})

test('a hundred attempts at once through two daemons take no more tokens than there are', {
  skip,
}, async t => {
  const database = await open(t, 'burst')
  const both = [0, 1].map(() => new SharedRateLimit(database, 'login', 10))
  const attempts = Array.from({ length: 100 }, (_, at) => both[at % 2]?.take('account ann', NOW))
  const taken = await Promise.all(attempts)
  assert.equal(taken.filter(answer => answer?.wait === 0).length, 10)
  assert.deepEqual(await both[0]?.take('account bob', NOW), { wait: 0, recent: 1 })
})

test('whoever is refused costs no statement until there may be a token', { skip }, async t => {
  const database = await open(t, 'refused')
  const limit = new SharedRateLimit(database, 'login', 2)
  for (const expected of [0, 0, 30]) assert.equal((await limit.take('a', NOW)).wait, expected)
  const before = await value<number>(database, VERSION)
  assert.deepEqual(await limit.take('a', later(29)), { wait: 1, recent: 2 })
  assert.equal(await value(database, VERSION), before)
  assert.equal((await limit.take('a', later(30))).wait, 0)
})

test('clocks that differ by less than a minute give nobody more, and a clock is set back', {
  skip,
}, async t => {
  const database = await open(t, 'clocks')
  const [exact, ahead] = [0, 1].map(() => new SharedRateLimit(database, 'login', 6)) as [
    SharedRateLimit,
    SharedRateLimit,
  ]
  let count = 0
  for (let second = 0; second < 60; second++)
    for (const [limit, skew] of [
      [exact, 0],
      [ahead, 50],
    ] as const)
      if ((await limit.take('a', later(second + skew))).wait === 0) count++
  // A full bucket, a minute's worth, and once what the other clock was ahead.
  assert.ok(count <= 6 + 6 + 5, `${count} tokens`)
  const back = new SharedRateLimit(database, 'login', 6)
  assert.ok((await back.take('a', later(-7200))).wait > 0)
  assert.equal((await back.take('a', later(-7200 + 10))).wait, 0)
})

test('what is full again is forgotten, and nobody is named', { skip }, async t => {
  const database = await open(t, 'forgotten')
  const limit = new SharedRateLimit(database, 'account', 2)
  await limit.take('correct horse battery', NOW)
  await limit.take('other', later(100))
  for (const key of await column<string>(database, 'SELECT key FROM rate_limits'))
    assert.match(key, /^[\w-]{22}$/)
  await deleteOldBuckets(database, later(119))
  assert.equal(await buckets(database), 2)
  await deleteOldBuckets(database, later(121))
  assert.equal(await buckets(database), 1)
  await execute(
    server.url('forgotten'),
    `INSERT INTO rate_limits SELECT n, 1, ${later(100).getTime()} - n / 1000.0 FROM generate_series(1, 100050) AS n`,
  )
  await deleteOldBuckets(database, later(121))
  assert.equal(await buckets(database), 100_000)
  assert.equal((await limit.take('other', later(121))).recent, 2, 'the ones used last stay')
})

/** A browser at an address, which uses one of several daemons. */
function visitorOf({ url }: Daemon, address: string): Visitor {
  const request = (to: string, init: RequestInit) =>
    fetch(to.replace(BASE, url), { ...init, redirect: 'manual' })
  return new Visitor({ app: { request } }, { 'x-forwarded-for': address })
}

test('wrong passwords through one daemon keep the guesser out of the other one, too', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'guesses')
  const settings = {
    PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '3',
    PLIMSOLL_LIMITS_ACCOUNT_LOGINS_PER_MINUTE: '6',
    PLIMSOLL_AUTH_PASSWORD_COST: '14',
    PLIMSOLL_SERVER_TRUSTED_PROXIES: '127.0.0.1',
  }
  const first = await cluster.daemon(settings)
  const two = await cluster.daemon(settings)
  const registry = await openRegistry(first.dir, { env: cluster.environment(settings) })
  t.after(() => registry.close())
  const { database } = registry
  for (const login of ['ann', 'bob']) {
    const at = '2026-11-20T12:00:00Z'
    const user = await addUser(database, { login, admin: false }, operatorChange(at))
    await setPassword(database, user, { password: PASSWORD, cost: 14 }, operatorChange(at))
  }
  const visitor = visitorOf(first, '192.0.2.50')
  assert.equal((await visitor.logIn('ann')).status, 303)
  const guess = async (daemon: Daemon, address: string) =>
    (await visitorOf(daemon, address).logIn('ann', 'not the right one')).status
  // The next token of the address comes after 20 s, that of the account after 10 s.
  const guesses = Array.from({ length: 3 }, () => guess(first, '203.0.113.1'))
  assert.deepEqual(new Set(await Promise.all(guesses)), new Set([403]))
  assert.equal(await guess(two, '203.0.113.1'), 429)
  const right = await visitorOf(two, '203.0.113.1').logIn('ann')
  assert.equal(right.status, 429)
  assert.ok(Number(right.headers.get('retry-after')) > 0)
  // Of 6 unknown attempts on the account one was the login, and a token or two may have come back.
  const others = Array.from({ length: 12 }, (_, at) => guess(two, `203.0.113.${10 + at}`))
  const statuses = await Promise.all(others)
  const wrong = statuses.filter(status => status === 403).length
  assert.ok(wrong >= 2 && wrong <= 4, statuses.join())
  assert.equal(statuses.filter(status => status === 429).length, 12 - wrong)
  const more = Array.from({ length: 5 }, (_, at) => guess(first, `203.0.113.${90 + at}`))
  const late = (await Promise.all(more)).filter(status => status === 403)
  assert.ok(late.length <= 1, 'a part of a token may have been left')
  assert.equal((await visitorOf(first, '203.0.113.99').logIn('bob')).status, 303)
  // A browser that was in before is not kept out, through whichever daemon.
  const again = visitorOf(two, '203.0.113.1')
  for (const [name, cookie] of visitor.cookies)
    if (name.endsWith('device')) again.cookies.set(name, cookie)
  assert.equal((await again.logIn('ann')).status, 303)
  const rows = async () =>
    Number((await cluster.query('SELECT count(*) FROM rate_limits'))[0]?.count)
  assert.ok((await rows()) > 10)
})

test('publishes and yanks of a user through two daemons are limited as if there were one', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'publishes')
  const settings = {
    PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '2',
    PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '1',
  }
  const first = await cluster.daemon(settings)
  const two = await cluster.daemon(settings)
  const token = firstToken(first)
  const burst = Array.from({ length: 12 }, (_, at) =>
    publish(at % 2 === 0 ? first : two, token, `1.${at}.0`),
  )
  const answers = await Promise.all(burst)
  const statuses = answers.map(({ status }) => status)
  const published = statuses.filter(status => status === 200).length
  // The next token would come after 30 s.
  assert.equal(published, 2, statuses.join())
  assert.equal(statuses.filter(status => status === 429).length, 12 - published)
  const refused = answers.find(({ status }) => status === 429) ?? assert.fail()
  assert.match(refused.headers.get('retry-after') ?? '', /^(?:[12]?[1-9]|[123]0)$/)
  const { errors } = (await refused.json()) as { errors: { detail: string }[] }
  assert.match(errors[0]?.detail ?? '', /^too many publishes in a short time; try again in \d+ /)
  const [version = ''] = await shownVersions(first)
  const yanks = [await yank(first, token, version), await yank(two, token, version)]
  assert.deepEqual(
    yanks.map(({ status }) => status),
    [200, 429],
  )
})
