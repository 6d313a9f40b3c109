import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseClaims } from '../../../core/trust/rule.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { listRules } from '../../../generator/trust/rules.ts'
import { addRule, setOnly } from '../../../generator/trust/rules-changes.ts'
import { said } from '../../support/oidc-registry.ts'
import { TestRegistry } from '../../support/registry.ts'
import { trusting } from '../../support/trusted.ts'
import { loggedIn } from '../../support/visitor.ts'

async function prepared(t: Parameters<typeof TestRegistry.open>[0]) {
  const env = {
    PLIMSOLL_AUTH_PASSWORD_COST: '14',
    PLIMSOLL_AUTH_REQUIRED: 'true',
    PLIMSOLL_ISSUER_GITHUB_SHARED: 'auto',
  }
  const test = await TestRegistry.open(t, { env })
  const alice = await test.user('alice')
  await test.user('bob')
  await test.user('root', {}, true)
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
  const as = (login: string) => loggedIn(test, login)
  return { test, as }
}

test('an owner writes and removes rules for a crate, and has its versions come from CI only', async t => {
  const { test, as } = await prepared(t)
  const visitor = await as('alice')
  const page = async (path = '/me/crates/demo') => (await visitor.get(path)).text()
  assert.match(await page(), /A job that publishes reads the whole registry for its 30 minutes/)
  const claims = 'repository=acme/demo\r\n workflow=release.yml\r\n\r\nref=refs/heads/<b>'
  const fields = { issuer: 'github', claims }
  const posted = await visitor.post('/me/crates/demo/trust/add', fields)
  assert.equal(posted.status, 303)
  const shown = await page(posted.headers.get('location') ?? '')
  assert.match(shown, /Rule 1 lets jobs publish demo\./)
  assert.match(shown, /Rule 1: github .*<code>ref=refs\/heads\/&lt;b&gt;<\/code>/)
  const wide = await visitor.post('/me/crates/demo/trust/add', {
    ...fields,
    claims: 'repository=acme/demo',
  })
  assert.match(
    await page(wide.headers.get('location') ?? ''),
    /whoever may push any branch can publish/,
  )
  const refused = await visitor.post('/me/crates/demo/trust/add', { ...fields, claims: 'ref=x' })
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /a rule has to name who may publish/i)
  assert.match(
    await page('/me/crates/demo/trust/remove?id=2'),
    /Remove rule 2\?[\s\S]*Jobs publish demo by it no longer/,
  )
  await visitor.post('/me/crates/demo/trust/remove', { id: '2' })
  assert.match(await page('/me/crates/demo/trust/only'), /Let only CI publish versions of demo\?/)
  await visitor.post('/me/crates/demo/trust/only')
  assert.match(await page(), /Let owners publish versions, too/)
  await visitor.post('/me/crates/demo/trust/only', { off: '1' })
  assert.match(await page(), /Let only CI publish versions/)
  const { database } = test.registry
  await setOnly(database, 'de*', true, operatorChange('2026-11-20T12:00:00Z'))
  const kept = await visitor.post('/me/crates/demo/trust/only', { off: '1' })
  assert.match(await said(kept), /de\* has demo take them from CI alone; an administrator can/)
  const rules = await listRules(database)
  assert.deepEqual(
    rules.map(({ id, writer }) => [id, writer]),
    [[1, 'alice']],
  )
  // Nobody reaches a crate of somebody else by the page of his own.
  const stranger = await as('bob')
  for (const [path, more] of [
    ['/me/crates/demo/trust/add', fields],
    ['/me/crates/demo/trust/remove', { id: '1' }],
    ['/me/admin/trust/remove', { id: '1' }],
  ] as const)
    assert.equal((await stranger.post(path, more)).status, 403, path)
  // Nor does that page tell of rules of others, which may name what nobody knows yet.
  const claimed = parseClaims(['repository=acme/x'])
  const wanted = { crate: 'secret-*', issuer: 'github', owner: 'alice', claims: claimed }
  const { rule } = await addRule(test.registry, wanted, operatorChange('2026-11-20T12:00:00Z'))
  const other = await visitor.get(`/me/crates/demo/trust/remove?id=${rule.id}`)
  assert.equal(other.status, 404)
  assert.doesNotMatch(await other.text(), /secret/)
})

test('an owner who is removed may leave rules, and the page asks what becomes of them', async t => {
  const { test, as } = await prepared(t)
  const alice = await as('alice')
  await alice.post('/me/crates/demo/owners/add', { login: 'bob' })
  const bob = await as('bob')
  const claims = 'repository=acme/demo\nref=refs/heads/main'
  await bob.post('/me/crates/demo/trust/add', { issuer: 'github', claims })
  const question = await (await alice.get('/me/crates/demo/owners/remove?login=bob')).text()
  assert.match(
    question,
    /Rules of theirs by which jobs publish stay[\s\S]*rule 1 \(github: repository=acme\/demo ref=/,
  )
  assert.match(question, /name="rules" value="remove"[\s\S]*Remove bob and these rules/)
  await alice.post('/me/crates/demo/owners/remove', { login: 'bob', rules: 'remove' })
  assert.deepEqual(await listRules(test.registry.database), [])
})

test('the page of a crate has the rule that has created it, while that counts', async t => {
  const { test, rule, job, publish } = await trusting(t)
  await rule({ crate: 'acme-*' })
  await rule({ crate: 'Solo' })
  const { token } = await job()
  for (const name of ['acme-one', 'solo'])
    assert.deepEqual(await publish(token, name, '1.0.0'), [200, null])
  const owner = await loggedIn(test, 'alice')
  const page = async (name: string) => (await owner.get(`/me/crates/${name}`)).text()
  assert.match(
    await page('acme-one'),
    /Rule 1 for <strong>acme-\*<\/strong>[\s\S]*Administrators may/,
  )
  assert.match(await page('solo'), /Rule 2: github/)
  assert.equal((await owner.get('/me/crates/solo/trust/remove?id=2')).status, 200)
  assert.equal((await owner.get('/me/crates/solo/trust/remove?id=1')).status, 404)
  await rule({ crate: 'acme-one', owner: null })
  const own = await page('acme-one')
  assert.deepEqual([/Rule 1/.test(own), /Rule 3: github/.test(own)], [false, true])
})

test('administrators write rules for names and prefixes', async t => {
  const { as } = await prepared(t)
  const root = await as('root')
  const fields = { issuer: 'github', claims: 'repository_owner=acme\nref=refs/heads/main' }
  const order = { ...fields, crate: 'acme-*', owner: 'alice' }
  const posted = await root.post('/me/admin/trust/add', order)
  const page = await (await root.get(posted.headers.get('location') ?? '')).text()
  assert.match(
    page,
    /Rule 1 for <strong>acme-\*<\/strong>: github[\s\S]*new crates belong to alice/,
  )
  await root.post('/me/admin/trust/only', { crate: 'acme-*' })
  assert.match(await (await root.get('/me/admin/trust')).text(), /Let owners publish, too: acme_\*/)
  const refused = await root.post('/me/admin/trust/add', { ...order, owner: '' })
  assert.match(await refused.text(), /A rule that creates crates has to name who owns them/i)
})
