import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, listUsers } from '../../../generator/accounts/accounts.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { refusedWith } from '../../support/refusal.ts'
import { TestRegistry } from '../../support/registry.ts'

const AT = '2026-11-20T12:00:00Z'

test('two additions of one login at the same time: one succeeds', async t => {
  const { database } = (await TestRegistry.open(t)).registry
  const order = { login: 'alice', admin: false }
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => addUser(database, order, operatorChange(AT))),
  )
  assert.equal(outcomes.filter(outcome => outcome.status === 'fulfilled').length, 1)
  assert.equal((await listUsers(database)).length, 1)
})

test('malformed logins are refused', async t => {
  const { database } = (await TestRegistry.open(t)).registry
  const odd = ['-a', '.a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'a\0', "a'--", 'github:a:b']
  for (const login of ['', ...odd, 'a'.repeat(40)]) {
    await assert.rejects(
      addUser(database, { login, admin: false }, operatorChange(AT)),
      refusedWith('login_invalid'),
      login,
    )
  }
  for (const login of ['a', '0', 'a.b_c-d', 'a'.repeat(39)])
    await addUser(database, { login, admin: false }, operatorChange(AT))
})
