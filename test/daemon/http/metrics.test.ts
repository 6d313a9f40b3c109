import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { codesOf } from '../../../core/error/catalog.ts'
import { Metrics } from '../../../daemon/http/metrics.ts'
import { makeToken } from '../../../generator/accounts/tokens.ts'
import { backup } from '../../../generator/backup/backup.ts'
import { COMMIT, VERSION } from '../../../generator/version.ts'
import { type Exposition, parseExposition } from '../../support/exposition.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn, Visitor } from '../../support/visitor.ts'

async function scrape(test: TestRegistry, token?: string): Promise<Exposition> {
  const response = await test.request('GET', '/metrics', token ?? null)
  assert.deepEqual(
    [response.status, response.headers.get('content-type'), response.headers.get('cache-control')],
    [200, 'text/plain; version=0.0.4; charset=utf-8', 'no-store'],
  )
  return parseExposition(await response.text())
}

/** How much a counter has grown, by its labels; what has not is left out. */
function grown(before: Exposition, now: Exposition, name: string): Record<string, number> {
  const rows = now.samples.filter(sample => sample.name === name)
  const was = new Map(before.samples.map(({ key, value }) => [key, value]))
  const differences = rows.map(row => [row.labels, row.value - (was.get(row.key) ?? 0)] as const)
  return Object.fromEntries(differences.filter(([, difference]) => difference !== 0))
}

test('the page is in Prometheus’ text format, its counters never fall and its histograms add up', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const before = await scrape(test)
  await test.publish(token, { name: 'demo', version: '1.0.1' })
  await test.request('GET', '/%22quoted%22%5C%0Aodd')
  const now = await scrape(test)
  const value = (labels: string, { samples }: Exposition) =>
    samples.find(sample => sample.key === labels)?.value
  // On a server, all tables have at least a page; SQLite begins with a header of 100 bytes.
  assert.ok((value('plimsoll_database_bytes', now) ?? 0) > 100)
  for (const { key, name, value: was } of before.samples) {
    if (now.types.get(name) === 'counter') assert.ok((value(key, now) ?? -1) >= was, key)
  }
  assert.equal(value(`plimsoll_build_info{version="${VERSION}",commit="${COMMIT}"}`, now), 1)
  const publish = 'method="PUT",route="/api/v1/crates/new",status="200"'
  const buckets = now.samples.filter(
    sample => sample.name === 'plimsoll_request_seconds_bucket' && sample.labels.endsWith(publish),
  )
  for (const [i, bucket] of buckets.entries())
    assert.ok(bucket.value >= (buckets[i - 1]?.value ?? 0), bucket.key)
  assert.match(buckets.at(-1)?.labels ?? '', /^le="\+Inf",/)
  const all = value(`plimsoll_request_seconds_count{${publish}}`, now)
  assert.deepEqual([buckets.at(-1)?.value, all], [2, 2])
  // A path is no label: whoever asks for many makes no more series.
  assert.ok(now.samples.every(sample => !sample.labels.includes('quoted')))
})

test('the failures that alerts are about are zero before the first one', async t => {
  const { samples } = await scrape(await TestRegistry.open(t))
  const codes = codesOf('busy', 'full', 'failed')
  const begun = samples.filter(({ name }) => name === 'plimsoll_failures_total')
  assert.deepEqual(
    begun.map(({ key, value }) => [key, value]).sort(),
    codes.map(code => [`plimsoll_failures_total{code="${code}"}`, 0]).sort(),
  )
})

test('requests are told apart by the route that answered, and by methods that have a name', async t => {
  const test = await TestRegistry.open(t)
  const before = await scrape(test)
  const asked = [
    ...['GET /healthz', 'HEAD /healthz', 'GET /api/v1/crates/none/1.0.0', 'GET /index/config.json'],
    ...['GET /nothing', 'PUT /nothing', 'MADE /up', 'ANEW /up'],
  ]
  for (const request of asked) {
    const [method = '', path = ''] = request.split(' ')
    await test.request(method, path)
  }
  assert.deepEqual(grown(before, await scrape(test), 'plimsoll_request_seconds_count'), {
    'method="GET",route="/healthz",status="200"': 1,
    'method="HEAD",route="/healthz",status="200"': 1,
    'method="GET",route="/api/v1/crates/:name/:version",status="404"': 1,
    'method="GET",route="/*",status="200"': 1,
    'method="GET",route="/*",status="404"': 1,
    'method="PUT",route="/*",status="404"': 1,
    'method="other",route="/*",status="404"': 2,
    'method="GET",route="/metrics",status="200"': 1,
  })
})

test('publishes, repeated ones and what is pending are counted', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const before = await scrape(test)
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  await test.publish(token, { name: 'demo', version: '1.0.1' })
  await test.indexWorker.settle()
  const now = await scrape(test)
  assert.deepEqual(grown(before, now, 'plimsoll_publishes_total'), {
    'outcome="added"': 2,
    'outcome="present"': 1,
  })
  assert.deepEqual(grown(before, now, 'plimsoll_held'), {
    'what="crates"': 1,
    'what="releases"': 2,
  })
  const pending = (shown: Exposition, kind: string) =>
    shown.samples.find(sample => sample.key === `plimsoll_pending{kind="${kind}"}`)?.value
  assert.deepEqual([pending(now, 'index'), pending(now, 'git'), pending(now, 'page')], [0, 0, 1])
  await test.indexWorker.pages.flush()
  assert.equal(pending(await scrape(test), 'page'), 0)
})

test('every objection is counted once, whether it is told to Cargo, to a reader or on a page', async t => {
  const test = await TestRegistry.open(t, {
    env: { PLIMSOLL_AUTH_REQUIRED: 'true', PLIMSOLL_AUTH_PASSWORD_COST: '14' },
  })
  const token = await test.user('alice')
  await test.user('bob')
  const bob = await loggedIn(test, 'bob')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const publish = (by: string, name: string, version: string) => () =>
    test.publish(by, { name, version })
  const get = (path: string, by?: string) => () => test.request('GET', path, by)
  const cases: [what: string, act: () => Promise<unknown>, codes: Record<string, number>][] = [
    ['a bad token', publish(makeToken(), 'demo', '1.0.1'), { token_rejected: 1 }],
    ['no token for the index', get('/index/config.json'), { token_absent: 1 }],
    ['two objections', publish(token, '9', 'x'), { name_start: 1, version_invalid: 1 }],
    ['an unknown crate', get('/api/v1/crates/none', token), { crate_unknown: 1 }],
    ['a failed login', () => new Visitor(test).logIn('alice', 'wrong'), { login_failed: 1 }],
    ['a page of administrators', () => bob.get('/me/admin/users'), { admin_only: 1 }],
    ['a crate of somebody else', () => bob.get('/me/crates/demo'), { not_owner: 1 }],
    [
      'a form from elsewhere',
      () => bob.send('/me/logout', { method: 'POST', body: new URLSearchParams() }),
      { form_rejected: 1 },
    ],
    [
      'a token without a name',
      () => bob.post('/me/tokens', { access: 'full' }),
      { token_name_invalid: 1 },
    ],
    ['nothing wrong', () => bob.get('/me'), {}],
  ]
  for (const [what, act, codes] of cases) {
    const before = await scrape(test, token)
    await act()
    const now = await scrape(test, token)
    const expected = Object.entries(codes).map(([code, n]) => [`code="${code}"`, n])
    const counted = grown(before, now, 'plimsoll_failures_total')
    assert.deepEqual(counted, Object.fromEntries(expected), what)
  }
})

test('a failure nobody foresaw is counted as one', async t => {
  const test = await TestRegistry.open(t)
  await test.publish(await test.user('alice'), { name: 'demo', version: '1.0.0' })
  const before = await scrape(test)
  const broken = t.mock.method(test.registry.database, 'execute', () => {
    throw new Error('the disk is on fire')
  })
  assert.equal((await test.request('GET', '/api/v1/crates/demo/1.0.0')).status, 500)
  broken.mock.restore()
  assert.deepEqual(grown(before, await scrape(test), 'plimsoll_failures_total'), {
    'code="unexpected"': 1,
  })
})

test('the last backup, the certificate and the test writes of /readyz are told', async t => {
  const test = await TestRegistry.open(t)
  const value = async (key: string) =>
    (await scrape(test)).samples.find(sample => sample.key === key)?.value
  assert.equal(await value('plimsoll_last_backup_timestamp_seconds'), 0)
  assert.equal(await value('plimsoll_tls_expiry_timestamp_seconds'), 0)
  await backup(test.registry, join(test.dir, 'backup.tar'))
  const made = test.now.getTime() / 1000
  assert.equal(await value('plimsoll_last_backup_timestamp_seconds'), made)
  await test.request('GET', '/readyz')
  for (const part of ['catalog', 'crate store', 'public tree', 'disk'])
    assert.equal(await value(`plimsoll_probe_seconds_count{part="${part}"}`), 1, part)
  const metrics = new Metrics(test.registry, () => new Date('2027-01-01T00:00:00Z'))
  const text = await (await metrics.page()).text()
  assert.match(text, /^plimsoll_tls_expiry_timestamp_seconds 1798761600$/m)
})
