import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { coversCrate, tokenOf } from '../../../daemon/access/auth.ts'
import { recordUses } from '../../../generator/accounts/secret.ts'
import { authenticate, listTokens } from '../../../generator/accounts/tokens.ts'
import { all, one, type Row, run } from '../../../generator/database/statement.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn } from '../../support/visitor.ts'

const recordUse = recordUses(error => assert.fail(String(error)))
const NOW = new Date('2026-11-20T12:00:00Z')
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

test('the token is the whole header, or what follows Bearer in any case', () => {
  const rows: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['   ', null],
    ['abc', 'abc'],
    ['  abc  ', 'abc'],
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   abc ', 'abc'],
    ['Bearerabc', 'Bearerabc'],
    ['Bearer', 'Bearer'],
    ['Basic abc', 'Basic abc'],
    ['Bearer Bearer abc', 'Bearer abc'],
  ]
  for (const [header, token] of rows) assert.equal(tokenOf(header), token, JSON.stringify(header))
})

test('a token for certain crates never reads, not even one that was made to', async t => {
  const env = { PLIMSOLL_AUTH_REQUIRED: 'true', PLIMSOLL_API_ERROR_STATUS: 'http' }
  const test = await TestRegistry.open(t, { env })
  const { database } = test.registry
  const token = await test.user('alice', { scopes: ['yank', 'read'] })
  await test.publish(await test.token(1), { name: 'bar', version: '1.0.0' })
  const status = async () => (await test.request('GET', '/index/3/b/bar', token)).status
  assert.equal(await status(), 200)
  await run(database, 'UPDATE tokens SET crates = ? WHERE id = 1', '["foo*"]')
  assert.equal(await status(), 403)
  assert.deepEqual((await listTokens(database))[0]?.scopes, ['yank'])
  await run(database, 'UPDATE tokens SET scopes = NULL WHERE id = 1')
  assert.equal(await status(), 403)
})

test('reading goes on where its use cannot be noted, which is logged once a minute', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_AUTH_REQUIRED: 'true' } })
  const { database } = test.registry
  const tokens = [await test.user('alice'), await test.user('bob')]
  const visitor = await loggedIn(test, 'alice')
  const read = async () => {
    const answers = tokens.map(token => test.request('GET', '/index/config.json', token))
    return (await Promise.all([...answers, visitor.get('/index/config.json')])).map(
      answer => answer.status,
    )
  }
  const complaints = () => test.logged.filter(line => line.includes('cannot record when')).length
  test.now = new Date(test.now.getTime() + 61_000)
  await run(database, 'PRAGMA query_only = ON')
  assert.deepEqual(await read(), [200, 200, 200])
  assert.deepEqual(await read(), [200, 200, 200])
  assert.equal(complaints(), 1)
  test.now = new Date(test.now.getTime() + 61_000)
  assert.deepEqual([await read(), complaints()], [[200, 200, 200], 2])
  await run(database, 'PRAGMA query_only = OFF')
  test.now = new Date(test.now.getTime() + 61_000)
  assert.deepEqual([await read(), complaints()], [[200, 200, 200], 2])
  const used = await all<Pick<Row<'tokens'>, 'last_used_at'>>(
    database,
    'SELECT last_used_at FROM tokens',
  )
  assert.deepEqual(used, [
    { last_used_at: '2026-11-20T12:03:03Z' },
    { last_used_at: '2026-11-20T12:03:03Z' },
  ])
})

test('the use of a token is noted at most once a minute', async t => {
  const test = await TestRegistry.open(t)
  const { database } = test.registry
  const token = await test.user('alice', { expires: '2026-11-20T13:00:00Z' })
  const lastUse = async (now: Date) => {
    await authenticate(database, token, { now, rules: test.registry.settings }, recordUse)
    return (
      await one<Pick<Row<'tokens'>, 'last_used_at'>>(database, 'SELECT last_used_at FROM tokens')
    ).last_used_at
  }
  assert.equal(await lastUse(after(0)), '2026-11-20T12:00:00Z')
  assert.equal(await lastUse(after(59.9)), '2026-11-20T12:00:00Z')
  assert.equal(await lastUse(after(61)), '2026-11-20T12:01:01Z')
  assert.equal(await lastUse(after(120)), '2026-11-20T12:01:01Z')
  assert.equal(await lastUse(after(3600)), '2026-11-20T12:01:01Z', 'an expired token is not used')
})

test('crate patterns are compared canonically', () => {
  const user = { id: 1, login: 'alice', admin: false }
  const rows: [string[] | null, string, boolean][] = [
    [null, 'anything', true],
    [[], 'anything', false],
    [['foo-bar'], 'foo-bar', true],
    [['foo-bar'], 'Foo_Bar', true],
    [['FOO_BAR'], 'foo-bar', true],
    [['foo-bar'], 'foo-bar2', false],
    [['foo-*'], 'foo_bar', true],
    [['Foo-*'], 'FOO-', true],
    [['foo-*'], 'foo', false],
    [['foo-*'], 'foobar', false],
    [['foo*'], 'foo', true],
    [['*'], 'anything', true],
    [['a', 'b'], 'b', true],
    [['constructor'], 'toString', false],
  ]
  for (const [crates, name, covered] of rows) {
    const actor = { who: 'user', user, tokenId: 1, scopes: null, crates } as const
    assert.equal(coversCrate(actor, parseName(name)), covered, `${crates} ${name}`)
  }
})
