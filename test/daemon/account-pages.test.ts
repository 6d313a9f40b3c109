import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry } from '../support/registry.ts'
import { loggedIn, Visitor } from '../support/visitor.ts'

test('an address with a slash at its end leads to the page, with its query', async t => {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  for (const visitor of [new Visitor(test), await loggedIn(test, 'alice')]) {
    for (const [path, there] of [
      ['/me/', '/me'],
      ['/me/?next=%2Fcrates%2F', '/me?next=%2Fcrates%2F'],
      ['/me/crates/demo//?done=x', '/me/crates/demo?done=x'],
    ] as const) {
      const answer = await visitor.get(path)
      assert.deepEqual([answer.status, answer.headers.get('location')], [303, there], path)
    }
  }
})

test('a page that says why not knows who is logged in', async t => {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  const who = async (visitor: Visitor, path: string) =>
    /<a href="\/me">([^<]*)<\/a>/.exec(await (await visitor.get(path)).text())?.[1]
  const alice = await loggedIn(test, 'alice')
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
