import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { timestamp } from '../../../core/timestamp.ts'
import { addUser, requireUser, setAdmin, setLocked } from '../../../generator/accounts/accounts.ts'
import { moveIssuer } from '../../../generator/accounts/oidc-identities.ts'
import { run } from '../../../generator/database/statement.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { recordGroup } from '../../../generator/records/groups.ts'
import { listOwners } from '../../../generator/records/owners.ts'
import { removeUser } from '../../../generator/registry/changes/users.ts'
import { readStatus } from '../../../generator/status.ts'
import { colleague, DAY, NO_ISSUER, OPERATOR, oidcRegistry } from '../../support/oidc-registry.ts'
import { trusting } from '../../support/trusted.ts'

test('the last administrator is one who can act', async t => {
  const { test, logIn } = await oidcRegistry(t, { admin_groups: 'root', token_days: '7' })
  const { registry } = test
  const of = (login: string) => requireUser(registry.database, login)
  const robot = { login: 'robot', admin: true, machine: true }
  await addUser(registry.database, robot, OPERATOR)
  const ada = { sub: 'e-1', preferred_username: 'ada', groups: ['root'] }
  await logIn(ada)
  await logIn({ sub: 'e-2', preferred_username: 'bob', groups: ['root'] })
  await setAdmin(registry, await of('owner'), false, OPERATOR)
  const later = (days: number) => {
    test.now = new Date(test.now.getTime() + days * DAY)
  }
  later(6)
  await logIn({ sub: 'e-2', groups: ['root'] })
  later(2)
  // Ada has left, and nobody logs in as the robot: only Bob can let others in.
  const now = { ...OPERATOR, at: timestamp(test.now) }
  const last = /`bob` is the last administrator/
  await assert.rejects(setLocked(registry, await of('bob'), true, now), last)
  await assert.rejects(setAdmin(registry, await of('bob'), false, now), last)
  await assert.rejects(removeUser(registry, await of('bob'), now), last)
  await logIn({ sub: 'e-2', groups: [] })
  assert.equal((await of('bob')).admin, true)
  const isMissing = async () => (await readStatus(registry, test.now, 1)).administrator_missing
  assert.equal(await isMissing(), false)
  later(8)
  assert.equal(await isMissing(), true)
  await logIn(ada)
  assert.equal(await isMissing(), false)
  await setLocked(registry, await of('bob'), true, { ...OPERATOR, at: timestamp(test.now) })
})

test('the first owner of a crate that a rule makes is a user who can act', async t => {
  const env = { ...NO_ISSUER, PLIMSOLL_OIDC_COMPANY_TOKEN_DAYS: '7' }
  const { issuer, test, rule, job, publish } = await trusting(t, env)
  await colleague(test, 'ada', [])
  await rule({ crate: 'acme-*', owner: 'ada' })
  const first = await job()
  assert.deepEqual(await publish(first.token, 'acme-one', '1.0.0'), [200, null])
  test.now = issuer.now = new Date(test.now.getTime() + 8 * DAY)
  const { token } = await job()
  const [status, detail] = await publish(token, 'acme-two', '1.0.0')
  assert.deepEqual([status, /`ada`, .* has to log in/.test(`${detail}`)], [403, true])
  // What is there goes on.
  assert.deepEqual(await publish(token, 'acme-one', '1.0.1'), [200, null])
})

test('the first owner of a crate that a rule makes may be a group with a user who can act', async t => {
  const env = { ...NO_ISSUER, PLIMSOLL_OIDC_COMPANY_TOKEN_DAYS: '7' }
  const { issuer, test, rule, job, publish } = await trusting(t, env)
  const { database } = test.registry
  await colleague(test, 'ada', ['team'])
  await assert.rejects(rule({ crate: 'acme-*', owner: 'group:other' }), /`group:other`/)
  assert.equal((await rule({ crate: 'acme-*', owner: 'group:team' })).owner, 'group:team')
  // Its groups are those of another address of the issuer, which has such a group itself.
  const { issuer: here } = test.registry.settings.oidc.company ?? assert.fail('no issuer')
  await run(database, 'UPDATE groups SET issuer = ?', 'https://old.example')
  await recordGroup(database, { issuer: here, name: 'team' }, 'company')
  await recordGroup(database, { issuer: 'https://old.example', name: 'others' }, 'company')
  await moveIssuer(database, 'https://old.example', here, OPERATOR)
  assert.deepEqual(await publish((await job()).token, 'acme-one', '1.0.0'), [200, null])
  const { id } = (await findCrate(database, parseName('acme-one'))) ?? assert.fail('no crate')
  assert.deepEqual(
    (await listOwners(database, id)).map(({ login }) => login),
    ['group:team'],
  )
  test.now = issuer.now = new Date(test.now.getTime() + 8 * DAY)
  const [status, detail] = await publish((await job()).token, 'acme-two', '1.0.0')
  assert.deepEqual([status, /`group:team`, .* nobody in the group/.test(`${detail}`)], [403, true])
})
