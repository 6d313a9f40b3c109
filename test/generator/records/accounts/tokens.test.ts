import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { all, type Row } from '../../../../generator/database/statement.ts'
import { addUser } from '../../../../generator/records/accounts/accounts.ts'
import {
  createToken,
  isToken,
  listTokens,
  makeToken,
  revokeToken,
} from '../../../../generator/records/accounts/tokens.ts'
import { operatorChange } from '../../../../generator/records/change.ts'
import { refusedWith } from '../../../support/refusal.ts'
import { TestRegistry } from '../../../support/registry.ts'

const AT = '2026-11-20T12:00:00Z'
const OPERATOR = operatorChange(AT)

test('a token is plim_, 32 base62 characters and a checksum of 6', () => {
  const token = makeToken()
  assert.match(token, /^plim_[0-9A-Za-z]{38}$/)
  assert.equal(isToken(token), true)
  assert.notEqual(makeToken(), token)
})

test('the checksum finds every mistyped character, and what is no token', () => {
  const token = makeToken()
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'x' ? 'y' : 'x'
    assert.equal(
      isToken(token.slice(0, at) + other + token.slice(at + 1)),
      false,
      `character ${at}`,
    )
  }
  const longer = [`${token}0`, ` ${token}`, `${token}\n`]
  for (const text of ['', 'plim_', token.slice(1), ...longer, token.toUpperCase()]) {
    assert.equal(isToken(text), false, JSON.stringify(text))
  }
})

test('the checksum of a given secret never changes, so that scanners can rely on it', () => {
  assert.equal(isToken('plim_0123456789ABCDEFGHIJKLMNOPQRSTUVEyl4jK'), true)
})

test('every character of the alphabet is as likely as any other', () => {
  const counts = new Map<string, number>()
  const tokens = 4000
  for (let i = 0; i < tokens; i++) {
    for (const character of makeToken().slice(5, 37))
      counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  assert.equal(counts.size, 62)
  const expected = (tokens * 32) / 62
  // A byte taken modulo 62 would favour eight characters by a quarter; chance alone moves a count by 2 % (one sigma).
  for (const [character, count] of counts) {
    assert.ok(
      Math.abs(count - expected) < expected * 0.125,
      `${character}: ${count} instead of ${expected}`,
    )
  }
})

test('of a token only its SHA-256 is stored', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const rows = await all<Row<'tokens'>>(test.registry.database, 'SELECT * FROM tokens')
  assert.deepEqual(
    rows.map(row => row.hash),
    [createHash('sha256').update(token).digest('hex')],
  )
  assert.equal(JSON.stringify(rows).includes(token.slice(5, 37)), false)
})

test('revoking what is no token, or is revoked already, is refused', async t => {
  const { registry } = await withUser(t)
  await revokeToken(registry.database, 1, OPERATOR)
  for (const id of [1, 99, Number('nonsense')]) {
    await assert.rejects(
      revokeToken(registry.database, id, OPERATOR),
      refusedWith('token_unknown'),
      String(id),
    )
  }
})

test('tokens that are revoked or expired do not count towards the limit', async t => {
  const { registry } = await TestRegistry.open(t)
  const user = await addUser(registry.database, { login: 'alice', admin: false }, OPERATOR)
  const order = { userId: user.id, name: 'x', scopes: null, crates: null, most: 2 }
  const create = (at: string, expires: string | null) =>
    createToken(registry.database, { ...order, expires }, operatorChange(at))
  await create(AT, '2026-11-20T12:00:10Z')
  await create(AT, null)
  await assert.rejects(create('2026-11-20T12:00:09Z', null), refusedWith('tokens_too_many'))
  await create('2026-11-20T12:00:10Z', null)
  await assert.rejects(create('2026-11-20T12:00:11Z', null), refusedWith('tokens_too_many'))
  await revokeToken(registry.database, 2, OPERATOR)
  await create('2026-11-20T12:00:12Z', null)
})

test('the name of a token is one line that reads as it is written', async t => {
  const { registry } = await TestRegistry.open(t)
  const user = await addUser(registry.database, { login: 'alice', admin: false }, OPERATOR)
  const create = (name: string) =>
    createToken(
      registry.database,
      { userId: user.id, name, scopes: null, crates: null, expires: null },
      OPERATOR,
    )
  const lines = ['a\nb', 'a\u2028b', 'a\u2029b']
  for (const bad of ['', 'x'.repeat(101), ...lines, 'laptop\u202E', 'a\u2066b']) {
    await assert.rejects(create(bad), refusedWith('token_name_invalid'), JSON.stringify(bad))
  }
  for (const good of ['x', 'Büro', '🚢'.repeat(100), 'a\u200Db']) await create(good)
  assert.equal((await listTokens(registry.database)).length, 4)
})

test('crate patterns are names, or beginnings followed by a star', async t => {
  const { registry } = await withUser(t)
  const order = { userId: 1, name: 'x', scopes: null, expires: null }
  for (const pattern of ['serde', 'Serde-json', 'serde_*', '*', 'a'.repeat(64)]) {
    await createToken(registry.database, { ...order, crates: [pattern] }, OPERATOR)
  }
  const bad = ['', '**', 'a**', '*a', 'a*b', '1a', '-a', 'a.b', 'ä', 'a b', 'a'.repeat(65)]
  for (const pattern of bad) {
    const wish = { ...order, crates: ['fine', pattern] }
    const creation = createToken(registry.database, wish, OPERATOR)
    await assert.rejects(creation, refusedWith('crate_pattern_invalid'), JSON.stringify(pattern))
  }
})

async function withUser(t: TestContext): Promise<TestRegistry> {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  return test
}
