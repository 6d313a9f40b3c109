import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { findUser, requireUser } from '../../../generator/records/accounts/accounts.ts'
import { addOwners } from '../../../generator/records/accounts/ownership.ts'
import { listTokens } from '../../../generator/records/accounts/tokens.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { findCrate, listOwners } from '../../../generator/records/crates.ts'
import { listReleases } from '../../../generator/records/releases.ts'
import { removeUser, renameUser } from '../../../generator/registry/users.ts'
import { refusedWith } from '../../support/refusal.ts'
import { TestRegistry } from '../../support/registry.ts'

const CHANGE = operatorChange('2026-11-20T12:00:00Z')

test('what a renamed or removed user has published and owns follows, also in the other tables', async t => {
  const test = await TestRegistry.open(t)
  const { registry } = test
  const { database } = registry
  const token = await test.user('alice')
  await test.user('bob')
  for (const version of ['1.0.0', '1.1.0']) await test.publish(token, { name: 'alpha', version })
  const crate = (await findCrate(database, parseName('alpha'))) ?? assert.fail()
  const publishers = async () =>
    (await listReleases(database, crate.id)).map(release => release.publishedBy)
  const alice = await requireUser(database, 'alice')
  await renameUser(registry, alice, 'ada', CHANGE)
  assert.deepEqual(await publishers(), ['ada', 'ada'])
  const ada = await requireUser(database, 'ADA')
  assert.equal(ada.id, alice.id)
  await assert.rejects(requireUser(database, 'alice'), refusedWith('login_gone'))
  await assert.rejects(removeUser(registry, ada, CHANGE), refusedWith('user_sole_owner'))
  assert.equal((await listTokens(database)).length, 2, 'nothing was changed')
  await addOwners(registry, crate, ['bob'], CHANGE)
  assert.deepEqual(await removeUser(registry, ada, CHANGE), { crates: ['alpha'], tokens: 1 })
  assert.deepEqual(await publishers(), ['ada (removed)', 'ada (removed)'])
  assert.deepEqual(
    (await listOwners(database, crate.id)).map(owner => owner.login),
    ['bob'],
  )
  assert.deepEqual(
    (await listTokens(database)).map(({ user }) => user),
    ['bob'],
  )
  const { removed, locked, admin } = (await findUser(database, 'ada')) ?? assert.fail()
  assert.deepEqual({ removed, locked, admin }, { removed: true, locked: true, admin: false })
  await assert.rejects(removeUser(registry, ada, CHANGE), refusedWith('login_gone'))
  await assert.rejects(addOwners(registry, crate, ['ada'], CHANGE), refusedWith('owner_no_user'))
})
