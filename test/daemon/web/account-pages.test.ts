// Mirrors daemon/web/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalName, type Name } from '../../../core/name.ts'
import { addUser } from '../../../generator/accounts/accounts.ts'
import { insert, run } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn, Visitor } from '../../support/visitor.ts'

test('a page that says why not knows who is logged in; search engines leave all of them out', async t => {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  const who = async (visitor: Visitor, path: string) => {
    const text = await (await visitor.get(path)).text()
    assert.ok(text.includes('<meta name="robots" content="noindex">'), path)
    return /<a href="\/me" data-user>([^<]*)<\/a>/.exec(text)?.[1]
  }
  const alice = await loggedIn(test, 'alice')
  assert.equal(await who(alice, '/me'), 'alice')
  assert.equal(await who(alice, '/me/none'), 'alice')
  assert.equal(await who(alice, '/me/admin/users'), 'alice')
  assert.equal(await who(new Visitor(test), '/me/none'), 'Account')
})

test('what was typed to add a user is there again when it was refused, and gone when it was not', async t => {
  const test = await TestRegistry.open(t)
  await test.user('root', {}, true)
  const root = await loggedIn(test, 'root')
  const typed = async (fields: Record<string, string>) => {
    const answer = await root.post('/me/admin/users/add', fields, { from: '/me/admin/users' })
    const text = await answer.text()
    return [
      answer.status,
      /<input name="login" value="([^"]*)"/.exec(text)?.[1],
      /name="admin" value="1"( checked)?/.exec(text)?.[1] === ' checked',
    ]
  }
  assert.deepEqual(await typed({ login: 'ro"ot ', admin: '1' }), [400, 'ro&quot;ot', true])
  assert.deepEqual(await typed({ login: 'root' }), [400, 'root', false])
  assert.deepEqual(await typed({ login: 'grace', admin: '1' }), [200, '', false])
})

test('a long list of users or crates comes in pages, and users can be looked for', async t => {
  const test = await TestRegistry.open(t)
  const { database } = test.registry
  await test.user('root', {}, true)
  const numbers = Array.from({ length: 120 }, (_, i) => String(i).padStart(3, '0'))
  const logins = numbers.map(number => `User-${number}`).reverse()
  for (const login of logins)
    await addUser(database, { login, admin: false }, operatorChange('2026-11-20T12:00:00Z'))
  for (const [i, login] of logins.entries()) {
    const name = `c-${login}` as Name
    const row = { name, canonical: canonicalName(name), skeleton: login }
    await insert(database, 'crates', { ...row, created_at: '2026-11-20T12:00:00Z', generation: i })
  }
  const owned = `INSERT INTO owners (crate_id, user_id, added_at, added_by)
    SELECT id, 1, created_at, NULL FROM crates`
  await run(database, owned)
  const root = await loggedIn(test, 'root')
  const shown = async (path: string, row: RegExp) => {
    const text = await (await root.get(path)).text()
    const nav = /<nav class="pager".*<\/nav>/.exec(text)?.[0] ?? ''
    const links = [...nav.matchAll(/href="([^"]+)"/g)].map(match => match[1])
    const names = [...text.matchAll(row)].map(match => match[1])
    return { names, links, place: /Page \d+ of \d+/.exec(nav)?.[0] }
  }
  const users = async (query: string) =>
    shown(`/me/admin/users${query}`, /<strong>([\w-]+)<\/strong>/g)
  const names = ['root', ...logins.toReversed()]
  assert.deepEqual(await users(''), {
    names: names.slice(0, 50),
    links: ['/me/admin/users?q=&amp;page=2'],
    place: 'Page 1 of 3',
  })
  assert.deepEqual(await users('?page=3'), {
    names: names.slice(100),
    links: ['/me/admin/users?q=&amp;page=2'],
    place: 'Page 3 of 3',
  })
  assert.deepEqual((await users('?page=999')).names, names.slice(100), 'the last one there is')
  assert.deepEqual((await users('?page=0x2')).names, names.slice(0, 50))
  assert.deepEqual(await users('?q=SER-07'), {
    names: logins.slice(40, 50).reverse(),
    links: [],
    place: undefined,
  })
  assert.deepEqual((await users('?q=%25')).names, [])
  const crates = async (query: string) => shown(`/me${query}`, /aria-label="Manage c-([^"]+)"/g)
  assert.deepEqual(await crates('?page=2'), {
    names: names.slice(51, 101),
    links: ['/me?page=1#crates', '/me?page=3#crates'],
    place: 'Page 2 of 3',
  })
  assert.equal((await crates('?page=3')).names.length, 20)
})

test('full access is chosen, not what a token gets when nothing is ticked', async t => {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  const alice = await loggedIn(test, 'alice')
  const refused = await alice.post('/me/tokens', { name: 'ci', access: 'limited' })
  const text = await refused.text()
  assert.equal(refused.status, 400)
  assert.match(text, /Choose full access or at least one permission/)
  assert.match(text, /name="access" value="limited" required checked>/)
  for (const [access, sentence] of [
    ['limited', 'yank'],
    ['full', 'full access'],
  ] as const) {
    const made = await alice.post('/me/tokens', { name: access, access, scope: 'yank' })
    assert.ok((await made.text()).includes(`<span class="note">${sentence}<`))
  }
})
