// Mirrors daemon/http/answer.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { type Issue, issue, Refusal } from '../../../core/error/error.ts'
import { failureBody, refused } from '../../../daemon/http/answer.ts'
import { makeToken } from '../../../generator/accounts/tokens.ts'
import { run } from '../../../generator/database/statement.ts'
import { type Answer, TestRegistry } from '../../support/registry.ts'
import { publishRequest } from '../../support/release.ts'

/** The answer to a refusal. */
async function answerTo(
  mode: 'cargo' | 'http',
  ...issues: [Issue, ...Issue[]]
): Promise<[number, unknown]> {
  const app = new Hono().get('/', c => refused(c, new Refusal(issues), mode))
  const response = await app.request('/')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal(response.headers.get('content-type'), 'application/json')
  return [response.status, await response.json()]
}

const me = 'http://crates.test/me'

test('a failure of an operation of Cargo is 200 with errors, or its honest status', async () => {
  const rows: [Issue, cargo: number, http: number][] = [
    [issue('version_taken', { name: 'a', version: '1.0.0', existing: '1.0.0' }), 200, 409],
    [issue('not_owner', { name: 'a', login: 'b' }), 200, 403],
    [issue('description_missing'), 200, 400],
    [issue('body_short', { part: '.crate', announced: 1 }), 200, 400],
    [issue('token_absent', { me }), 403, 403],
    [issue('crate_unknown', { name: 'a' }), 404, 404],
    [issue('crate_too_big', { max: 1 }), 413, 413],
  ]
  for (const [issue, cargo, http] of rows) {
    const body = { errors: [{ detail: issue.message }] }
    assert.deepEqual(await answerTo('cargo', issue), [cargo, body], issue.code)
    assert.deepEqual(await answerTo('http', issue), [http, body], issue.code)
  }
})

test('of several objections each is told; a real status goes before an honest one, that before 400', async () => {
  const issues = [
    issue('description_missing'),
    issue('version_taken', { name: 'a', version: '1.0.0', existing: '1.0.0' }),
  ] as const
  const details = issues.map(issue => ({ detail: issue.message }))
  assert.deepEqual(await answerTo('cargo', ...issues), [200, { errors: details }])
  assert.deepEqual(await answerTo('http', ...issues), [409, { errors: details }])
  const real = issue('crate_too_big', { max: 1 })
  assert.deepEqual(await answerTo('cargo', ...issues, real), [413, failureBody([...issues, real])])
})

test('what nobody foresaw is a 500 with an id and nothing else; under it the log has the cause, once', async t => {
  const test = await TestRegistry.open(t, { logLevel: 'info' })
  const token = await test.user('alice')
  await run(test.registry.database, 'DROP TABLE marks')
  const body = publishRequest({ name: 'demo', version: '1.0.0' })
  const response = await test.request('PUT', '/api/v1/crates/new', token, { body })
  assert.deepEqual([response.status, response.headers.get('cache-control')], [500, 'no-store'])
  const text = await response.text()
  const told = `${text} ${JSON.stringify([...response.headers])}`
  for (const secret of [test.dir, 'marks', 'SQL', ' at ', '.ts', '.js', token])
    assert.equal(told.includes(secret), false, secret)
  const detail = (JSON.parse(text) as Answer['body']).errors?.[0]?.detail ?? ''
  const form =
    /^something unexpected went wrong; the operator finds the cause in the log under ([0-9a-f-]{36})$/
  const id = form.exec(detail)?.[1] ?? assert.fail(detail)
  const lines = test.logged.map(line => JSON.parse(line) as Record<string, unknown>)
  const causes = lines.filter(line => line.id === id)
  assert.equal(causes.length, 1)
  const { level, path, method, err } = causes[0] ?? {}
  assert.deepEqual([level, path, method], [50, '/api/v1/crates/new', 'PUT'])
  assert.match(String((err as { message: string }).message), /no such table: marks/)
  assert.equal(test.logText().split('no such table').length - 1, 2, 'message and stack of one line')
})

test('an error of the disk is said plainly, without paths; the log has them', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const broken = Object.assign(new Error("EIO: i/o error, write '/srv/x'"), { code: 'EIO' })
  t.mock.method(test.registry.crates, 'stage', () => Promise.reject(broken))
  const { status, body } = await test.publish(token, { name: 'demo', version: '1.0.0' })
  assert.equal(status, 500)
  assert.match(body.errors?.[0]?.detail ?? '', /^the disk reports an error: EIO: i\/o error; look/)
  assert.match(test.logText(), /EIO: i\/o error, write '\/srv\/x'/)
})

test('no token ever stands in the log, on whatever way it came', async t => {
  const test = await TestRegistry.open(t, {
    env: { PLIMSOLL_AUTH_REQUIRED: 'true' },
    logLevel: 'trace',
  })
  const token = await test.user('alice')
  const unknown = makeToken()
  for (const secret of [token, unknown, `Bearer ${token}`]) {
    await test.publish(secret, { name: 'demo', version: '1.0.0' })
    await test.request('GET', '/index/config.json', secret)
    const bare = secret.replace('Bearer ', '')
    await test.request('GET', `/${bare}`, secret)
    const headers = { 'user-agent': `cargo ${bare}`, cookie: bare, referer: `http://x/${bare}` }
    const path = `/api/v1/crates/demo/${bare}/yank?token=${token}`
    await test.request('DELETE', path, secret, { headers })
  }
  test.log.error({ err: new Error(`it failed with ${token}`), token }, `really ${token}`)
  // What waits to be rendered would fail as well.
  await test.indexWorker.settle()
  await test.indexWorker.pages.flush()
  await run(test.registry.database, 'DROP TABLE marks')
  assert.equal((await test.publish(token, { name: 'other', version: '1.0.0' })).status, 500)
  assert.ok(test.logged.length > 12, String(test.logged.length))
  for (const secret of [token, unknown]) {
    assert.equal(test.logText().includes(secret.slice(5, 37)), false)
    assert.equal(test.logText().includes(secret.slice(5, 20)), false)
  }
  assert.match(test.logText(), /plim_…/)
})
