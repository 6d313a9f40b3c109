import assert from 'node:assert/strict'
import { test } from 'node:test'
import { managePage } from '../../site/account/manage-page.ts'
import { usersPage } from '../../site/account/users-page.ts'
import { keel } from '../support/demo-facts.ts'
import { demoAccount, demoFacts } from '../support/demo-site.ts'

const site = demoFacts('https://crates.example.com')
const pages = [...demoAccount(site, [keel])]

test('every form that changes something posts with the CSRF token', () => {
  for (const { path, bytes } of pages) {
    for (const [form] of bytes.toString().matchAll(/<form[\s\S]*?<\/form>/g)) {
      if (!form.includes('method="post"')) assert.match(form, /method="get"/, path)
      else assert.match(form, /<input type="hidden" name="csrf" value="c5rf">/, path)
    }
  }
})

test('a new token is shown with the line that takes it', () => {
  const home = pages.find(page => page.path === 'me.html')?.bytes.toString() ?? ''
  assert.ok(home.includes(`plim_${'x'.repeat(38)}`))
  assert.ok(home.includes('cargo login <span>--registry</span> harbour'))
  assert.ok(home.includes('action="/me/tokens/8/revoke"'))
  assert.ok(home.includes('action="/me/invitations/rudder/accept"'))
})

test('yanking asks first, and its form posts where the question is', () => {
  const manage = pages.find(page => page.path === 'me/crates/keel.html')?.bytes.toString() ?? ''
  assert.ok(manage.includes('href="/me/crates/keel/yank?version=1.4.0"'))
  assert.ok(manage.includes('href="/me/crates/keel/unyank?version=1.3.1"'))
  const question =
    pages.find(page => page.path === 'me/crates/keel/yank.html')?.bytes.toString() ?? ''
  assert.match(
    question,
    /<form class="inline" method="post" action="\/me\/crates\/keel\/yank">[\s\S]*name="version" value="1\.4\.0"/,
  )
})

test('the last owner cannot be removed, and only administrators see their pages', () => {
  const viewer = { login: 'ada', admin: false, csrf: 'x' }
  const single = managePage(site, {
    viewer,
    notice: null,
    name: 'keel',
    versions: [],
    owners: [{ login: 'ada', name: null }],
    invited: [],
  })
  assert.ok(single.includes('Add another owner before removing'))
  assert.doesNotMatch(single, /Remove ada|Audit log/)
})

test('pages behind a login stay out of search engines', () => {
  for (const { path, bytes } of pages)
    assert.ok(bytes.toString().includes('<meta name="robots" content="noindex">'), path)
})

test('the users are told with how many crates they own, the events to the second', () => {
  const viewer = { login: 'ada', admin: true, csrf: 'x' }
  const user = {
    login: 'bob',
    name: null,
    admin: false,
    locked: false,
    removed: false,
    created: '2026-01-01T00:00:00Z',
    lastSeen: null,
  }
  const users = [0, 1, 2].map(crates => ({ ...user, crates }))
  const text = usersPage(site, {
    viewer,
    notice: null,
    users,
    resetLink: null,
    draft: null,
    filter: '',
    usersPosition: { page: 1, last: 1 },
  })
  assert.deepEqual(text.match(/\d+ crates?\b/g), ['0 crates', '1 crate', '2 crates'])
  const log = pages.find(page => page.path === 'me/admin/audit.html')?.bytes.toString() ?? ''
  assert.match(
    log,
    /<time class="exact" datetime="2026-11-20T10:00:00Z">2026-11-20 10:00:00<\/time>/,
  )
})
