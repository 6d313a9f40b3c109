import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../../generator/database/statement.ts'
import { setMarks } from '../../../generator/records/marks.ts'
import { recordFailure } from '../../../generator/records/values.ts'
import { TestRegistry } from '../../support/registry.ts'
import { insertRows } from '../../support/rows.ts'
import { loggedIn } from '../../support/visitor.ts'

test('the audit log is narrowed down by user, crate and action, page by page', async t => {
  const test = await TestRegistry.open(t)
  await test.user('root', {}, true)
  await test.user('Alice')
  const { database } = test.registry
  for (let at = 0; at < 120; at++) {
    const [actor, crate] = at % 2 === 0 ? ['Alice', 'keel'] : ['bob', 'rudder']
    const action = at === 0 ? 'yank' : 'publish'
    const row = { at: '2026-11-20T12:00:00Z', actor, crate, action, version: `1.0.${at}` }
    await insertRows(database, 'audit', row)
  }
  const root = await loggedIn(test, 'root')
  const log = async (query: string) => {
    const text = await (await root.get(`/me/admin/audit${query}`)).text()
    const versions = [...text.matchAll(/\/crates\/(\w+)\/1\.0\.(\d+)\/"/g)]
    const links = /<nav class="pager"[^>]*>(.*)<\/nav>/.exec(text)?.[1] ?? ''
    return { text, versions: versions.map(([, name, at]) => `${name} ${at}`), links }
  }
  const first = await log('?user=alice')
  assert.deepEqual([first.versions.length, first.versions[0]], [50, 'keel 118'])
  const older = /href="(\?user=alice&amp;crate=&amp;action=&amp;before=\d+)">Older/.exec(
    first.links,
  )
  const second = await log((older?.[1] ?? '').replaceAll('&amp;', '&'))
  assert.deepEqual(second.versions.at(-1), 'keel 0')
  assert.match(second.links, /after=\d+">← Newer/)
  assert.doesNotMatch(second.links, /Older/)
  assert.equal((await log('?crate=rudder')).versions[0], 'rudder 119')
  const yanks = await log('?crate=keel&action=yank')
  assert.deepEqual(yanks.versions, ['keel 0'])
  assert.match(
    yanks.text,
    /<option value="login">login<\/option><option value="publish">publish<\/option>/,
  )
  assert.match(yanks.text, /<option value="yank" selected>yank<\/option>/)
  assert.match((await log('?user=nobody')).text, /No events/)
})

test('an event about a user links to that user, once', async t => {
  const test = await TestRegistry.open(t)
  await test.user('root', {}, true)
  await test.user('carol')
  const root = await loggedIn(test, 'root')
  await root.post('/me/admin/users/carol/lock', {}, { from: '/me/admin/users' })
  const text = await (await root.get('/me/admin/audit?action=user-lock')).text()
  assert.match(text, /users\?q=root">root<\/a> <strong>user lock<\/strong>/)
  assert.equal(text.split('users?q=carol">carol</a>').length, 2)
  const users = await (await root.get('/me/admin/users?q=carol')).text()
  assert.match(users, /<span class="badge bad">locked<\/span>/)
  assert.match(users, /users\/carol\/unlock/)
})

test('an owner who removes herself is named, and an administrator who yanks is called one', async t => {
  const test = await TestRegistry.open(t)
  await test.user('root', {}, true)
  const token = await test.user('carol')
  await test.publish(token, { name: 'keel', version: '1.0.0' })
  const root = await loggedIn(test, 'root')
  assert.equal((await root.post('/me/crates/keel/owners/add', { login: 'root' })).status, 303)
  assert.equal((await root.post('/me/crates/keel/owners/remove', { login: 'root' })).status, 303)
  const yank = await root.post('/me/crates/keel/yank', { version: '1.0.0' })
  assert.equal(yank.headers.get('location'), '/me/crates/keel?done=version-yanked')
  const text = await (await root.get('/me/admin/audit?crate=keel')).text()
  const user = '<a href="[^"]*users\\?q=root">root</a>'
  const crate = '<a href="[^"]*">keel</a>'
  assert.match(text, new RegExp(`${user} <strong>owner remove</strong>\\s*${crate}\\s*${user}`))
  assert.match(text, /<strong>yank<\/strong>[\s\S]*?<div class="row-more">as administrator/)
})

test('the status page shows pending work, failures and versions, and counts up to a limit', async t => {
  const test = await TestRegistry.open(t)
  await test.user('root', {}, true)
  const { database } = test.registry
  const why = '`origin` says no <b>'
  await recordFailure(database, { what: 'git push', at: '2026-11-20T11:00:00Z', why })
  const subjects = Array.from({ length: 10_003 }, (_, subject) => subject)
  const many = subjects.map(subject => ({ kind: 'search', subject }) as const)
  await setMarks(database, [...many, { kind: 'feeds', subject: 1 }], 1)
  const failed = `UPDATE marks SET retry_at = ?, attempts = 2, error = 'EIO' WHERE kind = 'feeds'`
  await run(database, failed, '2026-11-20T12:30:00Z')
  const root = await loggedIn(test, 'root')
  const text = await (await root.get('/me/admin/status')).text()
  for (const part of [
    /search files<\/dt><dd>more than 10,000</,
    /feeds and site map<\/dt><dd>1</,
    /<strong>git push, not mended<\/strong>[\s\S]*<code>origin<\/code> says no &lt;b&gt;/,
    /feeds, 2 attempts<\/strong>[\s\S]*next attempt <time[^>]*>2026-11-20 12:30:00</,
    /Node\.js<\/dt><dd>\d+\./,
    /Disk<\/dt><dd>[\d.]+ [KMG]iB of [\d.]+ [KMG]iB free</,
  ])
    assert.match(text, part)
})

test('the cookie with the username follows the session, and nothing trusts it', async t => {
  const test = await TestRegistry.open(t)
  await test.user('alice')
  const alice = await loggedIn(test, 'alice')
  await alice.get('/me')
  assert.equal(alice.cookies.get('plimsoll_user'), 'alice')
  alice.cookies.set('plimsoll_user', 'root')
  assert.match(await (await alice.get('/me')).text(), /<h1>alice<\/h1>/)
  assert.equal(alice.cookies.get('plimsoll_user'), 'alice')
  await alice.post('/me/logout')
  assert.equal(alice.cookies.has('plimsoll_user'), false)
  alice.cookies.set('plimsoll_user', 'alice')
  assert.match(await (await alice.get('/me')).text(), /<h1>Log in<\/h1>/)
  assert.equal(alice.cookies.has('plimsoll_user'), false, 'gone with a session that ended')
})
