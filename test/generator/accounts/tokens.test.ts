import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import {
  createToken,
  isToken,
  makeToken,
  revokeToken,
  type TokenOrder,
} from '../../../generator/accounts/tokens.ts'
import { all, type Row } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { refusedWith } from '../../support/refusal.ts'
import { TestRegistry } from '../../support/registry.ts'

const AT = '2026-11-20T12:00:00Z'
const OPERATOR = operatorChange(AT)

test('a token is plim_, 32 base62 characters and a checksum of 6 that finds every mistyped one', () => {
  const token = makeToken()
  assert.match(token, /^plim_[0-9A-Za-z]{38}$/)
  assert.equal(isToken(token), true)
  // Scanners can rely on it: the checksum of a given secret never changes.
  assert.equal(isToken('plim_0123456789ABCDEFGHIJKLMNOPQRSTUVEyl4jK'), true)
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'x' ? 'y' : 'x'
    const mistyped = token.slice(0, at) + other + token.slice(at + 1)
    assert.equal(isToken(mistyped), false, `character ${at}`)
  }
  const longer = [`${token}0`, ` ${token}`, `${token}\n`]
  for (const text of ['', 'plim_', token.slice(1), ...longer, token.toUpperCase()])
    assert.equal(isToken(text), false, JSON.stringify(text))
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

/** The records of a registry with the user alice, who has a token, and creates tokens of hers. */
async function withUser(t: TestContext) {
  const test = await TestRegistry.open(t)
  const first = await test.user('alice')
  const { database } = test.registry
  const order = { userId: 1, name: 'x', scopes: null, crates: null, expires: null }
  const create = (wish: Partial<TokenOrder>, at = AT) =>
    createToken(database, { ...order, ...wish }, operatorChange(at))
  return { first, database, create }
}

test('of a token only its SHA-256 is stored', async t => {
  const { database, first } = await withUser(t)
  const rows = await all<Row<'tokens'>>(database, 'SELECT * FROM tokens')
  assert.equal(rows[0]?.hash, createHash('sha256').update(first).digest('hex'))
  assert.equal(JSON.stringify(rows).includes(first.slice(5, 37)), false)
})

test('revoking what is no token, or is revoked already, is refused', async t => {
  const { database } = await withUser(t)
  await revokeToken(database, 1, OPERATOR)
  for (const id of [1, 99, Number('nonsense')]) {
    const revocation = revokeToken(database, id, OPERATOR)
    await assert.rejects(revocation, refusedWith('token_unknown'), String(id))
  }
})

test('tokens that are revoked or expired do not count towards the limit', async t => {
  const { database, create } = await withUser(t)
  const added = (at: string, expires: string | null = null) => create({ expires, most: 3 }, at)
  await added(AT, '2026-11-20T12:00:10Z')
  await added(AT)
  await assert.rejects(added('2026-11-20T12:00:09Z'), refusedWith('tokens_too_many'))
  await added('2026-11-20T12:00:10Z')
  await assert.rejects(added('2026-11-20T12:00:11Z'), refusedWith('tokens_too_many'))
  await revokeToken(database, 3, OPERATOR)
  await added('2026-11-20T12:00:12Z')
})

test('the name of a token is one line that reads as it is written', async t => {
  const { create } = await withUser(t)
  const lines = ['a\nb', 'a\u2028b', 'a\u2029b']
  for (const name of ['', 'x'.repeat(101), ...lines, 'laptop\u202E', 'a\u2066b'])
    await assert.rejects(create({ name }), refusedWith('token_name_invalid'), JSON.stringify(name))
  for (const name of ['x', 'Büro', '🚢'.repeat(100), 'a\u200Db']) await create({ name })
})

test('crate patterns are names, or beginnings followed by a star', async t => {
  const { create } = await withUser(t)
  for (const pattern of ['serde', 'Serde-json', 'serde_*', '*', 'a'.repeat(64)])
    await create({ crates: [pattern] })
  const bad = ['', '**', 'a**', '*a', 'a*b', '1a', '-a', 'a.b', 'ä', 'a b', 'a'.repeat(65)]
  for (const pattern of bad) {
    const creation = create({ crates: ['fine', pattern] })
    await assert.rejects(creation, refusedWith('crate_pattern_invalid'), JSON.stringify(pattern))
  }
})
