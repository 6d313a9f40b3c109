import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import type { IssuerKind } from '../../../core/settings/issuer.ts'
import { addUser, findUser, setLocked } from '../../../generator/accounts/accounts.ts'
import { listEvents } from '../../../generator/accounts/audit.ts'
import { addOwners, removeOwners } from '../../../generator/accounts/ownership.ts'
import { all, one, run } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { listOwners } from '../../../generator/records/owners.ts'
import { exchange as exchangeIn } from '../../../generator/trust/exchange.ts'
import { listRules } from '../../../generator/trust/rules.ts'
import { dropRule, setOnly } from '../../../generator/trust/rules-changes.ts'
import { TrustedIssuers } from '../../../generator/trust/verify.ts'
import { TOKENS, trusting } from '../../support/trusted.ts'
import { JOBS, RULES } from '../../support/trusted-jobs.ts'

const OPERATOR = operatorChange('2026-11-20T12:00:00Z')
const DAY = 86_400_000
const NOT_VALID = (name: string) =>
  `The provided access token is not valid for crate \`${name}\`: no rule of its issuer lets it publish that now`

test('a job of each kind publishes a new crate and a new version without a stored token', async t => {
  for (const kind of Object.keys(JOBS) as IssuerKind[]) {
    const { test, rule, job, publish } = await trusting(t, {}, kind)
    const { id } = await rule()
    const { token, status, detail } = await job()
    assert.deepEqual([status, detail], [200, undefined], kind)
    assert.match(token, /^plim_tp_[0-9A-Za-z]{38}$/)
    for (const version of ['1.0.0', '1.0.1'])
      assert.deepEqual(await publish(token, 'demo', version), [200, null], kind)
    const crate = await findCrate(test.registry.database, parseName('demo'))
    const owners = await listOwners(test.registry.database, crate?.id ?? 0)
    assert.deepEqual(
      owners.map(({ login }) => login),
      ['alice'],
    )
    const events = await listEvents(test.registry.database, { limit: 3 })
    const [exchanged, first, second] = events
    assert.deepEqual([exchanged?.action, exchanged?.actor], ['trust-exchange', `rule ${id}`])
    for (const event of [first, second]) {
      assert.deepEqual([event?.action, event?.actor, event?.token], ['publish', `rule ${id}`, null])
      assert.deepEqual([event?.detail?.rule, event?.detail?.subject], [id, JOBS[kind].sub])
    }
    const versions = await test.request('GET', '/api/v1/crates/demo/versions')
    const [version] = JSON.parse(await versions.text()).versions
    assert.deepEqual([version.published_by, version.trustpub_data.provider], [null, 'oidc'], kind)
  }
})

test('a token is exchanged once, also if it was refused, however it is written, by two at once', async t => {
  const { issuer, test, rule, exchange } = await trusting(t)
  const refused = await issuer.sign({ ...JOBS.github, ref: 'refs/pull/1/merge' })
  assert.equal((await exchange(refused)).status, 400)
  await rule()
  assert.equal((await exchange(refused)).detail, 'JWT has already been used')
  const jwt = await issuer.sign(JOBS.github)
  const { database } = test.registry
  const other = new TrustedIssuers({ ...test.registry, env: {} })
  const change = { at: OPERATOR.at, actor: 'unknown', who: 'stranger' } as const
  const results = await Promise.allSettled([
    exchange(jwt).then(({ token }) => token || Promise.reject()),
    exchangeIn(database, other, jwt, change),
  ])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal((await exchange(jwt)).detail, 'JWT has already been used')
  // What nobody can send any more is forgotten.
  assert.equal((await all(database, 'SELECT token FROM trust_used')).length, 2)
  test.now = new Date(test.now.getTime() + 7 * 60_000)
  issuer.now = test.now
  assert.equal((await exchange(await issuer.sign(JOBS.github))).status, 200)
  assert.equal((await all(database, 'SELECT token FROM trust_used')).length, 1)
})

test('where tokens stay in a file, one is exchanged again', async t => {
  const env = { PLIMSOLL_ISSUER_KUBERNETES_REUSE: 'true' }
  const { issuer, rule, exchange } = await trusting(t, env, 'kubernetes')
  await rule()
  const jwt = await issuer.sign(JOBS.kubernetes)
  for (let count = 0; count < 2; count++) assert.equal((await exchange(jwt)).status, 200)
})

test('whoever takes the name of a repository, or of its owner, later is refused', async t => {
  const { test, rule, job } = await trusting(t)
  const { id } = await rule()
  assert.equal((await job()).status, 200)
  const [{ pins } = { pins: [] }] = await listRules(test.registry.database)
  assert.deepEqual(
    pins.map(([, , claim, value]) => `${claim}=${value}`),
    ['repository_owner_id=123', 'repository_id=456'],
  )
  const taken = await job({ repository_owner_id: '999' })
  assert.deepEqual(
    [taken.status, taken.detail],
    [
      400,
      `The Trusted Publishing config for repository \`acme/demo\` does not match the repository owner ID (999) in the JWT. Expected owner IDs: 123. Please recreate the Trusted Publishing config to update the repository owner ID.: \`repository_owner_id\` was \`999\`, and rule ${id} wants \`123\``,
    ],
  )
  const anew = await job({ repository_id: '457' })
  assert.match(anew.detail ?? '', /`repository_id` was `457`, and rule \d+ wants `456`$/)
})

test('a token covers all crates whose rules let the job through, and nothing else', async t => {
  const { test, alice, rule, job, publish } = await trusting(t)
  await rule({ crate: 'one' })
  await rule({ crate: 'two' })
  await rule({ crate: 'other', claims: ['repository=acme/other', 'ref=x'] })
  const { token } = await job()
  for (const name of ['one', 'two'])
    assert.deepEqual(await publish(token, name, '1.0.0'), [200, null])
  for (const name of ['other', 'three'])
    assert.deepEqual(await publish(token, name, '1.0.0'), [403, NOT_VALID(name)])
  // The same crate in another spelling is the same crate, and there it has one.
  await rule({ crate: 'two-words' })
  const again = await job()
  assert.deepEqual(await publish(again.token, 'Two_Words', '1.0.0'), [200, null])
  assert.deepEqual(await publish(token, 'two-words', '1.0.1'), [403, NOT_VALID('two-words')])
  const collision = await publish(again.token, 'two-words', '1.0.1')
  assert.deepEqual([collision[0], String(collision[1]).includes('collides')], [409, true])
  assert.equal((await test.publish(alice, { name: 'free', version: '1.0.0' })).status, 200)
  assert.deepEqual(await publish(token, 'free', '1.0.1'), [403, NOT_VALID('free')])
})

test('what ends between exchange and publish, ends the right', async t => {
  const { test, alice, rule, job, publish } = await trusting(t)
  const { database } = test.registry
  const { id } = await rule({ crate: 'removed' })
  await rule({ crate: 'taken' })
  await rule({ crate: 'mine' })
  await addUser(database, { login: 'bob', admin: false }, OPERATOR)
  const locked = await rule({ crate: 'locked', owner: 'bob' })
  const { token } = await job()
  await dropRule(database, id, OPERATOR)
  assert.deepEqual(await publish(token, 'removed', '1.0.0'), [403, NOT_VALID('removed')])
  await test.publish(alice, { name: 'taken', version: '1.0.0' })
  assert.deepEqual(await publish(token, 'taken', '1.0.1'), [403, NOT_VALID('taken')])
  const bob = (await findUser(database, 'bob')) ?? assert.fail()
  await setLocked(test.registry, bob, true, OPERATOR)
  assert.deepEqual(await publish(token, 'locked', '1.0.0'), [
    403,
    `\`bob\`, which rule ${locked.id} makes the first owner of new crates, can do nothing: the account is locked, gone, or has to log in at its issuer again, or nobody in the group can act; if that stays so, ask an administrator to write the rule anew`,
  ])
  // A rule of the crate itself is narrower than that which created it.
  assert.deepEqual(await publish(token, 'mine', '1.0.0'), [200, null])
  await rule({ crate: 'mine', owner: null, claims: ['repository=acme/mine', 'ref=x'] })
  assert.deepEqual(await publish(token, 'mine', '1.0.1'), [403, NOT_VALID('mine')])
  const revoked = await test.request('DELETE', TOKENS, `Bearer ${token}`)
  assert.equal(revoked.status, 204)
  const gone =
    'Invalid authentication token: it is unknown, revoked, or older than 30 minutes; exchange a new one'
  assert.deepEqual(await publish(token, 'mine', '1.0.2'), [403, gone])
  const late = await job()
  test.now = new Date(test.now.getTime() + 30 * 60_000)
  assert.deepEqual(await publish(late.token, 'taken', '1.0.2'), [403, gone])
})

test('a prefix creates crates, whose narrower rule counts, and nobody takes over what others made', async t => {
  const { test, alice, rule, job, publish } = await trusting(t)
  await rule({ crate: 'acme-*' })
  await rule({ crate: 'acme-core-*', claims: ['repository=acme/core', 'ref=x'] })
  await rule({ crate: 'acme-alone', claims: ['repository=acme/alone', 'ref=x'] })
  await test.publish(alice, { name: 'acme-old', version: '1.0.0' })
  const { token } = await job()
  assert.deepEqual(await publish(token, 'acme-new', '1.0.0'), [200, null])
  assert.deepEqual(await publish(token, 'acme-new', '1.0.1'), [200, null])
  for (const name of ['acme-core-x', 'acme-alone', 'acme-old', 'acme'])
    assert.deepEqual(await publish(token, name, '2.0.0'), [403, NOT_VALID(name)], name)
})

test('a crate that gets another owner keeps its rules', async t => {
  const { test, alice, rule, job, publish } = await trusting(t)
  const { database } = test.registry
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
  await test.user('bob')
  await rule({ owner: null })
  const { token } = await job()
  const crate = (await findCrate(database, parseName('demo'))) ?? assert.fail()
  await addOwners(test.registry, crate, ['bob'], OPERATOR)
  await removeOwners(test.registry, crate, ['alice'], OPERATOR)
  assert.deepEqual(await publish(token, 'demo', '1.0.1'), [200, null])
})

test('versions come from CI only where that is said, until it is said otherwise', async t => {
  const { test, alice, rule, job, publish } = await trusting(t)
  const { database } = test.registry
  await rule()
  const { token } = await job()
  assert.deepEqual(await publish(token, 'demo', '1.0.0'), [200, null])
  const only = (name: string) =>
    `New versions of this crate can only be published using Trusted Publishing: \`${name}\` takes them from CI alone; an owner can turn that off at /me/crates/${name}`
  await setOnly(database, 'Demo', true, OPERATOR)
  await setOnly(database, 'acme-*', true, OPERATOR)
  assert.deepEqual(await publish(alice, 'demo', '1.0.1'), [403, only('demo')])
  const covered = (name: string, pattern: string) =>
    `New versions of this crate can only be published using Trusted Publishing: \`${pattern}\` has \`${name}\` take them from CI alone; an administrator can turn that off at /me/admin/trust`
  assert.deepEqual(await publish(alice, 'acme_new', '1.0.0'), [403, covered('acme_new', 'acme_*')])
  assert.deepEqual(await publish(alice, 'acmes', '1.0.0'), [200, null])
  assert.deepEqual(await publish(token, 'demo', '1.0.1'), [200, null])
  // Owners still yank.
  const yank = await test.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', alice)
  assert.equal(yank.status, 200)
  const crate = JSON.parse(await (await test.request('GET', '/api/v1/crates/demo')).text()).crate
  assert.equal(crate.trustpub_only, true)
  // Nobody is told that it has ended where a shorter prefix goes on.
  const off = (pattern: string) => setOnly(database, pattern, false, OPERATOR)
  await setOnly(database, 'd*', true, OPERATOR)
  for (const [pattern, name] of [
    ['demo', 'demo'],
    ['de*', 'de*'],
  ] as const)
    await assert.rejects(off(pattern), { message: covered(name, 'd*') })
  assert.equal(await off('d*'), true)
  await setOnly(database, 'demo', false, OPERATOR)
  assert.deepEqual(await publish(alice, 'demo', '1.0.2'), [200, null])
  const actions = (await listEvents(database, { limit: 2 })).map(({ action }) => action)
  assert.deepEqual(actions, ['trust-only-off', 'publish'])
})

test('new crates of a day count by rule, and a rule that nobody uses ends', async t => {
  const { issuer, test, rule, job, publish } = await trusting(t, {
    PLIMSOLL_LIMITS_NEW_CRATES_PER_DAY: '1',
  })
  const { id } = await rule({ crate: 'acme-*' })
  await rule({ crate: 'other-*' })
  const { token } = await job()
  assert.deepEqual(await publish(token, 'acme-a', '1.0.0'), [200, null])
  assert.deepEqual(await publish(token, 'acme-b', '1.0.0'), [
    429,
    `\`rule ${id}\` has published 1 new crate within 24 hours, which is the limit; publish again later`,
  ])
  assert.deepEqual(await publish(token, 'other-a', '1.0.0'), [200, null])
  const { id: wrong } = await rule({ crate: 'future' })
  // By a clock that was wrong.
  const made = "UPDATE trust_rules SET created_at = '2050-01-01T00:00:00Z' WHERE id = ?"
  await run(test.registry.database, made, wrong)
  const back = await job()
  assert.deepEqual(await publish(back.token, 'future', '1.0.0'), [403, NOT_VALID('future')])
  await rule({ crate: 'late' })
  test.now = issuer.now = new Date(test.now.getTime() + 31 * DAY)
  const again = await job()
  assert.deepEqual(await publish(again.token, 'late', '1.0.0'), [403, NOT_VALID('late')])
  assert.deepEqual(await publish(again.token, 'acme-a', '1.0.1'), [200, null])
})

test('rules of others are not told of, and finding one does not read all', async t => {
  const { test, rule, job } = await trusting(t)
  await rule({ crate: 'secret', claims: ['repository=acme/secret', 'environment=vault'] })
  const { status, detail } = await job()
  const none = 'No Trusted Publishing config found for repository `acme/demo`.'
  assert.deepEqual([status, detail], [400, none])
  for (const event of ['pull_request_target', 'workflow_run']) {
    const said = await job({ event_name: event })
    assert.match(said.detail ?? '', new RegExp(`does not support the \`${event}\` event trigger`))
  }
  assert.equal((await job({ workflow_ref: 'x' })).detail, 'Unexpected `workflow_ref` value')
  assert.equal((await job({ repository: 'x' })).detail, 'Unexpected `repository` value')
  if (test.registry.isShared) return
  const plan = await all<{ detail: string }>(
    test.registry.database,
    `EXPLAIN QUERY PLAN SELECT rule_id FROM trust_keys WHERE issuer = ? AND key = ?`,
    'github',
    'x',
  )
  assert.match(plan[0]?.detail ?? '', /^SEARCH trust_keys USING PRIMARY KEY/)
})

test('the records keep a hash of a token alone', async t => {
  const { test, rule, job } = await trusting(t)
  await rule()
  const { token } = await job()
  const row = await one<{ hash: string }>(test.registry.database, 'SELECT * FROM trust_tokens')
  assert.ok(!JSON.stringify(row).includes(token.slice(8, 20)))
  assert.ok(!test.logText().includes(token))
  await run(test.registry.database, 'DELETE FROM trust_tokens')
})

test('the rules of a kind without owners are for issuers that one has alone', async t => {
  const { rule } = await trusting(t, { PLIMSOLL_ISSUER_OTHER_SHARED: 'auto' }, 'other')
  await assert.rejects(rule(), /strangers may use this issuer, too, and its kind names no owner/)
  const { rule: own } = await trusting(t, {}, 'other')
  assert.deepEqual((await own()).claims.length, RULES.other.length)
})
