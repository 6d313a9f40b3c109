// Mirrors daemon/web/notice.ts and site/account/frame.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_ISSUER } from '../../support/oidc-registry.ts'
import { NO_UPSTREAM, TestRegistry } from '../../support/registry.ts'
import { loggedIn, type Visitor } from '../../support/visitor.ts'

const UP = '/me/admin/upstream/up'

/** Follows a link of a page that asks, and sends the form of that page as it stands. */
async function confirm(visitor: Visitor, page: string, link: string) {
  const list = await (await visitor.get(page)).text()
  const isForm = new RegExp(`<form[^>]*method="post" action="${link.split('?')[0]}"`).test(list)
  assert.equal(isForm, false, `${link} is no button of ${page}`)
  const ways = [`href="${link.replaceAll('&', '&amp;')}"`, `get" action="${link.split('?')[0]}"`]
  assert.ok(
    ways.some(way => list.includes(way)),
    `${page} leads to ${link}`,
  )
  const text = await (await visitor.get(link)).text()
  const [, action = '', inside = ''] =
    /<form[^>]* action="(\/me\/(?!logout)[^"]+)">(.*?)<\/form>/s.exec(text) ?? []
  const fields = [...inside.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)]
  const form = Object.fromEntries(fields.map(([, name, value]) => [name, value]))
  const answer = await visitor.send(action.replaceAll('&amp;', '&'), {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const location = answer.headers.get('location')
  const next = location === null ? answer : await visitor.get(location)
  const after = await next.text()
  const plain = (html = '') => html.replace(/<[^>]+>/g, '')
  return {
    title: plain(/<h1>(.*?)<\/h1>/.exec(text)?.[1]),
    button: plain(/<button[^>]*>([^<]*)<\/button>\s*<a /.exec(text)?.[1]),
    notice: plain(/role="status">(.*?)<\/p>/.exec(after)?.[1]),
    location: location ?? '',
    asked: text,
    after,
  }
}

test('whatever takes something away asks with its name, and the notice names it', async t => {
  const env = { ...NO_UPSTREAM, ...NO_ISSUER, PLIMSOLL_OWNERS_ADD: 'invite' }
  const test = await TestRegistry.open(t, { env })
  await test.user('root', {}, true)
  const token = await test.user('alice', { name: 'laptop of # and @' })
  for (const login of ['bob', 'carol']) await test.user(login)
  for (const name of ['keel', 'rudder']) await test.publish(token, { name, version: '1.0.0' })
  const [root, alice, bob] = [
    await loggedIn(test, 'root'),
    await loggedIn(test, 'alice'),
    await loggedIn(test, 'bob'),
  ]
  await loggedIn(test, 'alice')
  await alice.post('/me/crates/keel/owners/add', { login: 'bob' })
  await alice.post('/me/crates/rudder/owners/add', { login: 'bob' })
  await alice.post('/me/crates/keel/deprecate', { reason: 'it is old', requirement: '^1' })
  const keel = '/me/crates/keel'
  const users = '/me/admin/users'
  const rows: [Visitor, page: string, link: string, title: RegExp, notice: RegExp][] = [
    [alice, keel, `${keel}/yank?version=1.0.0`, /^Yank keel 1\.0\.0\?/, /^keel 1\.0\.0 is yanked/],
    [
      alice,
      keel,
      `${keel}/yank?version=1.0.0`,
      /^Why is keel 1\.0\.0 y/,
      /^keel 1\.0\.0 is yanked/,
    ],
    [alice, keel, `${keel}/unyank?version=1.0.0`, /^Unyank keel 1/, /^keel 1\.0\.0 is no longer y/],
    [
      alice,
      keel,
      `${keel}/owners/remove?login=bob`,
      /^Withdraw the invitation of bob\?/,
      /^bob .* of keel, and no longer invited/,
    ],
    [
      alice,
      keel,
      `${keel}/undeprecate?requirement=%5E1`,
      /^Take back the deprecation of keel@\^1\?/,
      /^keel@\^1 is no longer deprecated/,
    ],
    [
      bob,
      '/me',
      '/me/invitations/rudder/decline',
      /^Decline to own rudder\?/,
      /to own rudder is declined/,
    ],
    [alice, '/me', '/me/sessions/4/end', /^End the session of Test 1\?/, /of Test 1 has ended/],
    [
      alice,
      '/me',
      '/me/tokens/2/revoke',
      /^Revoke the token laptop of # and @\?/,
      /laptop of # and @ is/,
    ],
    [root, users, `${users}/bob/lock`, /^Lock bob\?/, /^bob is locked: the tokens of bob/],
    [root, users, `${users}/bob/unlock`, /^Unlock bob\?/, /^bob is unlocked/],
    [
      root,
      users,
      `${users}/bob/promote`,
      /^Make bob an administrator\?/,
      /^bob is an administrator/,
    ],
    [root, users, `${users}/bob/demote`, /^Revoke the admin rights of bob\?/, /^bob is no longer/],
    [root, `${users}?q=BO`, `${users}/bob/lock?q=BO&page=1`, /^Lock bob\?/, /^bob is locked/],
    [root, `${users}?q=BO`, `${users}/bob/unlock?q=BO&page=1`, /^Unlock bob\?/, /^bob is unl/],
    [root, `${users}?q=BO`, `${users}/bob/reset?q=BO&page=1`, /^Reset the password/, /^$/],
    [root, users, `${users}/bob/reset`, /^Reset the password of bob\?/, /^$/],
    [root, users, `${users}/bob/link?issuer=company&subject=b-1`, /^Link bob\?/, /^bob is linked/],
  ]
  for (const [visitor, page, link, title, notice] of rows) {
    const seen = await confirm(visitor, page, link)
    assert.match(seen.title, title)
    assert.match(seen.notice, notice)
    assert.ok(seen.button.length > 3)
    if (link.endsWith('/end')) assert.match(seen.asked, /It began 2\d? November 2026, 12:00 UTC\./)
    if (page.endsWith('?q=BO')) {
      assert.match(seen.after, /name="q" value="BO"/)
      assert.doesNotMatch(seen.after, /<strong>carol/)
      assert.ok(seen.asked.includes(`href="${users}?q=BO&amp;page=1">Cancel`))
    }
    if (seen.location === '') assert.match(seen.after, /Give this link to <strong>bob</)
    else assert.match(await (await visitor.get(page)).text(), /<h1>/)
  }
  await loggedIn(test, 'alice')
  const ended = await confirm(alice, '/me', '/me/sessions/end')
  assert.deepEqual(
    [ended.title, ended.notice],
    ['End all other sessions of alice?', 'Every other session of alice has ended.'],
  )
  await root.post(`${UP}/allow`, { crate: 'keel', version: '1.0.0' })
  const hold = await (await root.get(`${UP}/hold?crate=keel&version=1.0.0`)).text()
  assert.match(hold, /<h1>Hold keel@1\.0\.0 again\?<\/h1>/)
  assert.match(hold, new RegExp(`href="${UP}\\?crate=keel">Cancel`))
  const link = await (await root.get(`${users}/carol/link?subject=%22&keep=1`)).text()
  assert.match(link, /too\.<.* name="subject" value="&quot;">.* name="keep" value="1">/s)
  const own = await root.get(`${users}/root/lock`)
  assert.match(await own.text(), /You cannot lock or demote your own account/)
  const all = await (await root.get(`${UP}/accept?crate=keel&version=*`)).text()
  assert.match(all, /<h1>Accept keel\?<\/h1>.*name="version" value="\*"/s)
})

test('a notice is shown once, to whom sent the form, and no address makes a page say it', async t => {
  const test = await TestRegistry.open(t)
  await test.user('root', {}, true)
  await test.user('bob')
  const root = await loggedIn(test, 'root')
  const forged = '/me/admin/users?done=user-locked&of=everybody'
  assert.doesNotMatch(await (await root.get(forged)).text(), /role="status"/)
  const done = await root.post('/me/admin/users/bob/lock', {})
  const [cookie = ''] = done.headers.getSetCookie().filter(line => line.includes('notice'))
  assert.match(cookie, /Max-Age=60; .*HttpOnly; SameSite=Strict/)
  const location = done.headers.get('location') ?? ''
  assert.equal(location, '/me/admin/users?done=user-locked')
  assert.doesNotMatch(await (await root.get('/me?done=token-revoked')).text(), /role="status"/)
  assert.match(await (await root.get(location)).text(), /role="status">bob is locked/)
  assert.doesNotMatch(await (await root.get(location)).text(), /role="status"/)
  for (const value of ['user-locked', 'constructor%0A1', '%E0%A4%A', 'user-locked%0A%3Cb%3E%60']) {
    root.cookies.set('plimsoll_notice', value)
    const answer = await root.get(location)
    assert.equal(answer.status, 200, value)
    assert.ok(!(await answer.text()).includes('<b>'))
  }
})

test('expiry is a date: of a token, before and after it is made, and of an invitation', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_OWNERS_ADD: 'invite' } })
  const token = await test.user('alice')
  await test.user('bob')
  await test.publish(token, { name: 'keel', version: '1.0.0' })
  const alice = await loggedIn(test, 'alice')
  const text = await (await alice.get('/me')).text()
  const options = [...text.matchAll(/<option value="(\w*)"[^>]*>([^<]*)</g)]
  assert.deepEqual(
    options.map(([, value, label]) => `${value}: ${label}`),
    [
      '30d: until 20 December 2026, 30 days',
      '90d: until 18 February 2027, 90 days',
      '365d: until 20 November 2027, one year',
      ': never',
    ],
  )
  const fields = { name: 'ci', access: 'full', expires: '90d' }
  const made = await (await alice.post('/me/tokens', fields)).text()
  assert.match(made, /Copy the new token ci now\..* It is good until 18 February 2027\./)
  const exact = /expires <time class="date" datetime="2027-02-18T12:00:00Z"[^>]*>Feb 18, 2027</
  assert.match(made, exact)
  await alice.post('/me/crates/keel/owners/add', { login: 'bob' })
  const bob = await loggedIn(test, 'bob')
  for (const [who, page] of [
    [alice, '/me/crates/keel'],
    [bob, '/me'],
  ] as const)
    assert.match(
      await (await who.get(page)).text(),
      /expires <time class="date"[^>]*>Dec 20, 2026</,
    )
})
