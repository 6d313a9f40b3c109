// Mirrors daemon/web/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { routes } from '../../../daemon/app.ts'
import { addUser } from '../../../generator/accounts/accounts.ts'
import { addOwners } from '../../../generator/accounts/ownership.ts'
import { all as rowsOf, run } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { colleague, NO_ISSUER } from '../../support/oidc-registry.ts'
import { assertPrinted } from '../../support/printed-table.ts'
import { frugallyInTheEnd } from '../../support/processor-time.ts'
import { NO_UPSTREAM, TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { form, loggedIn, PASSWORD, Visitor, withPassword } from '../../support/visitor.ts'

const AT = '2026-11-20T12:00:00Z'

/**
 * Who asks: a browser that is not logged in, a program with the owner's token, a session that was made up, one that has
 * expired, and those of a stranger, of the owner of `demo` and of an administrator.
 */
const CALLERS = ['nobody', 'token', 'made up', 'expired', 'stranger', 'owner', 'admin'] as const
type Statuses = readonly [number, number, number, number, number, number, number]

/**
 * The same with the account of a company: a session that waits for a login there, a colleague, one
 * who was in the group that owns `demo`, and one who is; and whose answers theirs are.
 */
const COLLEAGUES = [
  ['due', 'expired'],
  ['colleague', 'stranger'],
  ['former member', 'stranger'],
  ['member', 'owner'],
] as const
type Caller = (typeof CALLERS)[number] | (typeof COLLEAGUES)[number][0]
const ALL = CALLERS.map((caller, at) => [caller as Caller, at] as const)
const WALKERS: Readonly<Record<string, typeof ALL>> = {
  false: ALL,
  true: [...ALL, ...COLLEAGUES.map(([who, like]) => [who, CALLERS.indexOf(like)] as const)],
}
/** A group has crates, and no tokens or sessions. */
const OF_NO_GROUP = /\/me\/(?:tokens|sessions)\/[^/]+\//

interface Ask {
  readonly path: string
  readonly statuses: Statuses
  readonly fields?: Readonly<Record<string, string>>
}

const ask = (path: string, statuses: Statuses, fields: Ask['fields'] = {}): Ask => {
  return { path, statuses, fields }
}
const all = (status: number): Statuses => {
  return [status, status, status, status, status, status, status]
}

/** Pages: whoever is not logged in is sent to do so. */
const page = (stranger: number, owner: number, admin: number): Statuses => {
  return [303, 303, 303, 303, stranger, owner, admin]
}
const OWNER = page(403, 200, 200)
const ADMIN = page(403, 403, 200)

/** Every route that browsers take. A new one goes in here, or the test below fails. */
const PAGES: Readonly<Record<string, readonly Ask[]>> = {
  'GET /me': [ask('/me', all(200))],
  'GET /me/login': [ask('/me/login', [200, 200, 200, 200, 303, 303, 303])],
  'GET /me/oidc/:issuer': [ask('/me/oidc/company', all(503)), ask('/me/oidc/none', all(404))],
  'GET /me/oidc/:issuer/callback': [
    ask('/me/oidc/company/callback?code=x&state=y', all(200)),
    ask('/me/oidc/company/callback?code=x&state=y&again=1', all(403)),
    ask('/me/oidc/none/callback', all(404)),
  ],
  'GET /me/password': [
    ask('/me/password', [403, 403, 403, 403, 303, 303, 303]),
    ask('/me/password?link=x', all(403)),
  ],
  'GET /me/tokens/:id/revoke': [ask('/me/tokens/1/revoke', page(400, 200, 400))],
  'GET /me/sessions/:id/end': [ask('/me/sessions/1/end', page(400, 200, 400))],
  'GET /me/sessions/end': [ask('/me/sessions/end', page(200, 200, 200))],
  'GET /me/invitations/:name/decline': [
    ask('/me/invitations/demo/decline', page(200, 200, 200)),
    ask('/me/invitations/none/decline', page(404, 404, 404)),
  ],
  'GET /me/crates/:name': [
    ask('/me/crates/demo', OWNER),
    ask('/me/crates/none', page(404, 404, 404)),
  ],
  'GET /me/crates/:name/yank': [ask('/me/crates/demo/yank?version=1.0.0', OWNER)],
  'GET /me/crates/:name/unyank': [ask('/me/crates/demo/unyank?version=1.0.0', OWNER)],
  'GET /me/crates/:name/undeprecate': [
    ask('/me/crates/demo/undeprecate?requirement=*', page(403, 404, 404)),
  ],
  'GET /me/crates/:name/owners/remove': [ask('/me/crates/demo/owners/remove?login=alice', OWNER)],
  'GET /me/crates/:name/trust/:action': [ask('/me/crates/demo/trust/only', OWNER)],
  'GET /me/admin/trust': [ask('/me/admin/trust', ADMIN)],
  'GET /me/admin/trust/:action': [ask('/me/admin/trust/only?crate=acme-*', ADMIN)],
  'GET /me/admin/users': [ask('/me/admin/users', ADMIN)],
  'GET /me/admin/users/:login/:action': [
    ask('/me/admin/users/carol/lock', ADMIN),
    ask('/me/admin/users/carol/praise', page(403, 403, 404)),
    ask('/me/admin/users/nobody/lock', page(403, 403, 400)),
  ],
  'GET /me/admin/audit': [ask('/me/admin/audit', ADMIN)],
  'GET /me/admin/status': [ask('/me/admin/status', ADMIN)],
  'GET /me/admin/upstream/:name': [
    ask('/me/admin/upstream/up', ADMIN),
    ask('/me/admin/upstream/none', page(403, 403, 404)),
  ],
  'GET /me/admin/upstream/:name/:action': [
    ask('/me/admin/upstream/up/hold?crate=keel&version=1.0.0', ADMIN),
    ask('/me/admin/upstream/up/praise?crate=keel&version=1.0.0', page(403, 403, 404)),
  ],
  'GET /me/*': [ask('/me/none', all(404))],
}

/** Forms sent with what the form carries; who has no session cannot have that of one. */
const sent = (stranger: number, owner: number, admin: number): Statuses => {
  return [403, 403, 403, 403, stranger, owner, admin]
}
const BY_USER = sent(303, 303, 303)
const BY_OWNER = sent(403, 303, 303)
const BY_ADMIN = sent(403, 403, 303)

const VERSION = { version: '1.0.0' }
const LOGIN = { login: 'alice', password: PASSWORD }
const WRONG = { current: 'not this one', password: 'another good one' }
const FORMS: Readonly<Record<string, Ask>> = {
  'POST /me/login': ask('/me/login', all(303), LOGIN),
  'POST /me/logout': ask('/me/logout', BY_USER),
  'POST /me/password': ask('/me/password', all(403), WRONG),
  'POST /me/tokens': ask('/me/tokens', sent(200, 200, 200), { access: 'full', name: 'new' }),
  'POST /me/tokens/:id/revoke': ask('/me/tokens/1/revoke', sent(400, 303, 400)),
  'POST /me/sessions/:id/end': ask('/me/sessions/1/end', sent(400, 303, 400)),
  'POST /me/sessions/end': ask('/me/sessions/end', BY_USER),
  'POST /me/invitations/:name/accept': ask('/me/invitations/demo/accept', sent(400, 400, 400)),
  'POST /me/invitations/:name/decline': ask('/me/invitations/demo/decline', sent(400, 400, 400)),
  'POST /me/crates/:name/yank': ask('/me/crates/demo/yank', BY_OWNER, VERSION),
  'POST /me/crates/:name/unyank': ask('/me/crates/demo/unyank', BY_OWNER, VERSION),
  'POST /me/crates/:name/deprecate': ask('/me/crates/demo/deprecate', BY_OWNER, {
    requirement: '*',
    reason: 'old',
  }),
  'POST /me/crates/:name/undeprecate': ask('/me/crates/demo/undeprecate', BY_OWNER),
  'POST /me/crates/:name/owners/add': ask('/me/crates/demo/owners/add', BY_OWNER, {
    login: 'carol',
  }),
  'POST /me/crates/:name/owners/remove': ask('/me/crates/demo/owners/remove', sent(403, 400, 400), {
    login: 'dave',
  }),
  'POST /me/crates/:name/trust/:action': ask('/me/crates/demo/trust/only', BY_OWNER),
  'POST /me/admin/trust/:action': ask('/me/admin/trust/only', BY_ADMIN, { crate: 'acme-*' }),
  'POST /me/admin/users/add': ask('/me/admin/users/add', sent(403, 403, 200), {
    login: 'newcomer',
  }),
  'POST /me/admin/users/:login/:action': ask('/me/admin/users/carol/lock', BY_ADMIN),
  'POST /me/admin/upstream/:name/:action': ask('/me/admin/upstream/up/allow', BY_ADMIN, {
    crate: 'keel',
    ...VERSION,
  }),
}

for (const required of ['false', 'true']) {
  test(`every route for browsers, for everybody; auth.required = ${required}`, async t => {
    const env = {
      PLIMSOLL_AUTH_REQUIRED: required,
      PLIMSOLL_AUTH_PASSWORD_COST: '14',
      PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '0',
    }
    const { test, visitorOf } = await prepared(t, env)
    const declared = routes(test)
      .filter(route => ['visitor', 'session', 'admin'].includes(String(route.access)))
      .map(route => `${route.method} ${route.path}`)
    const listed = [...Object.keys(PAGES), ...Object.keys(FORMS)]
    assert.deepEqual(declared.sort(), listed.sort(), 'each route has its row')
    for (const ask of Object.values(PAGES).flat()) {
      for (const [caller, i] of WALKERS[required] ?? assert.fail()) {
        const response = await (await visitorOf(caller)).get(ask.path)
        const what = `GET ${ask.path} by ${caller}`
        const isOwn = caller === 'member' && OF_NO_GROUP.test(ask.path)
        assert.equal(response.status, ask.statuses[isOwn ? CALLERS.indexOf('stranger') : i], what)
        assertGuarded(response, what)
        if (response.status !== 303 || ask.statuses === PAGES['GET /me/login']?.[0]?.statuses)
          continue
        const location = response.headers.get('location')
        if (i < 4) assert.equal(location, `/me?next=${encodeURIComponent(ask.path)}`, what)
      }
    }
    for (const [route, ask] of Object.entries(FORMS)) {
      for (const [caller, i] of WALKERS[required] ?? assert.fail()) {
        const visitor = await visitorOf(caller)
        const response = await visitor.post(ask.path, ask.fields)
        const what = `${route} by ${caller}`
        const isOwn = caller === 'member' && OF_NO_GROUP.test(ask.path)
        const expected = ask.statuses[isOwn ? CALLERS.indexOf('stranger') : i]
        assert.equal(response.status, expected, `${what}: ${await response.clone().text()}`)
        assertGuarded(response, what)
      }
    }
  })
}

test('docs/run/access.md prints which browser gets what', async t => {
  const test = await TestRegistry.open(t)
  const rows = routes(test).flatMap(({ method, path, access }) => {
    const route = `${method} ${path}`
    const asks = PAGES[route] ?? (FORMS[route] ? [FORMS[route]] : [])
    return asks.map(ask => [
      `\`${method} ${ask.path}\``,
      String(access),
      ...ask.statuses.map(String),
    ])
  })
  assertPrinted('browsers', [['request', 'access', ...CALLERS], ...rows])
})

test('no form does anything that did not come from a page of ours, made for that very browser', async t => {
  const { test, visitorOf } = await prepared(t, { PLIMSOLL_AUTH_PASSWORD_COST: '14' })
  const before = await rows(test)
  for (const [route, ask] of Object.entries(FORMS)) {
    const member = route.includes('admin') ? 'admin' : 'owner'
    const caller = route === 'POST /me/login' ? 'nobody' : member
    const visitor = await visitorOf(caller)
    const csrf = await visitor.proof()
    const others = await (await visitorOf(caller)).proof()
    const strangers = await (await visitorOf('stranger')).proof()
    const tries: [what: string, fields: Record<string, string>, headers: Record<string, string>][] =
      [
        ['no proof', {}, {}],
        ['an empty one', { csrf: '' }, {}],
        ['of another session', { csrf: others }, {}],
        ['of another user', { csrf: strangers }, {}],
        ['of another site', { csrf }, { 'sec-fetch-site': 'cross-site' }],
        ['of a neighbouring host', { csrf }, { 'sec-fetch-site': 'same-site' }],
        ['of another origin', { csrf }, { origin: 'https://evil.example' }],
        ['of a page without origin', { csrf }, { origin: 'null' }],
        ['of the same name by another scheme', { csrf }, { origin: `${BASE}.evil.example` }],
      ]
    for (const [what, fields, headers] of tries) {
      const body = form({ ...ask.fields, ...fields })
      const response = await visitor.send(ask.path, { method: 'POST', headers, body })
      assert.equal(response.status, 403, `${route}: ${what}`)
      const text = await response.text()
      assert.match(text, /came from another site or is too old/, `${route}: ${what}`)
    }
    const plain = { headers: { 'content-type': 'text/plain' }, body: `csrf=${csrf}` }
    const { status } = await visitor.send(ask.path, { method: 'POST', ...plain })
    assert.equal(status, 400, route)
  }
  assert.deepEqual(await rows(test), before)
})

test('a form from here is taken, by whatever of its headers the browser shows', async t => {
  const { visitorOf } = await prepared(t, { PLIMSOLL_AUTH_PASSWORD_COST: '14' })
  const fetched = ['same-origin', 'none'].map(site => ({ 'sec-fetch-site': site }))
  for (const headers of [{}, { origin: BASE }, ...fetched]) {
    const owner = await visitorOf('owner')
    const { status } = await owner.post('/me/logout', {}, { headers })
    assert.equal(status, 303, JSON.stringify(headers))
  }
})

test('a reader of a private registry may be a browser that is logged in, for what changes nothing', async t => {
  const { test, visitorOf } = await prepared(t, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  await test.indexWorker.pages.flush()
  const rows: [path: string, others: number, user: number][] = [
    ['/', 303, 200],
    ['/crates/demo/demo-1.0.0.crate', 401, 200],
    ['/index/config.json', 401, 200],
    ['/api/v1/crates?q=demo', 401, 200],
    ['/metrics', 303, 200],
    ['/none.html', 303, 404],
  ]
  for (const [path, others, user] of rows)
    for (const caller of ['nobody', 'made up', 'expired', 'stranger'] as const) {
      const { status } = await (await visitorOf(caller)).get(path)
      assert.equal(status, caller === 'stranger' ? user : others, `${path} by ${caller}`)
    }
  const nobody = new Visitor(test)
  const path = '/crates/demo/?tab=deps'
  const { headers } = await nobody.get(path)
  assert.equal(headers.get('location'), `/me?next=${encodeURIComponent(path)}`)
  assert.equal((await nobody.get('/', { accept: '*/*' })).status, 401)
  // A session is no token: it opens none of Cargo's operations.
  const owner = await visitorOf('owner')
  const yank = await owner.send('/api/v1/crates/demo/1.0.0/yank', { method: 'DELETE' })
  const owners = await owner.get('/api/v1/crates/demo/owners')
  assert.deepEqual([yank.status, owners.status], [403, 403])
})

/** Everything a form may change. */
async function rows({ registry }: TestRegistry) {
  const { database } = registry
  const tables = ['users', 'tokens', 'owners', 'invitations', 'releases', 'upstream_allowed']
  return Promise.all(tables.map(table => rowsOf(database, `SELECT * FROM ${table}`)))
}

const EXPIRE = 'UPDATE sessions SET expires_at = ? WHERE id = (SELECT max(id) FROM sessions)'

/** A registry with `demo` of alice, and a browser for each caller. */
async function prepared(t: Parameters<typeof TestRegistry.open>[0], env: Record<string, string>) {
  const test = await TestRegistry.open(t, { env: { ...env, ...NO_UPSTREAM, ...NO_ISSUER } })
  const { database } = test.registry
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  await withPassword(test, 'alice')
  for (const login of ['bob', 'carol', 'dave'])
    await addUser(database, { login, admin: false }, operatorChange(AT))
  await addUser(database, { login: 'root', admin: true }, operatorChange(AT))
  await loggedIn(test, 'alice')
  const demo = (await findCrate(database, parseName('demo'))) ?? assert.fail()
  const arrive = (login: string, groups: string[]) => colleague(test, login, groups)
  await arrive('member', ['rust'])
  await arrive('former', ['rust'])
  await addOwners(test.registry, demo, ['group:rust'], operatorChange(AT))
  const visitorOf = async (caller: Caller): Promise<Visitor> => {
    const visitor = new Visitor(test, caller === 'token' ? { authorization: token } : {})
    switch (caller) {
      case 'made up':
        visitor.cookies.set('plimsoll_session', 'A'.repeat(43))
        return visitor
      case 'expired': {
        const past = await loggedIn(test, 'alice')
        await run(database, EXPIRE, AT)
        return past
      }
      case 'stranger':
        return loggedIn(test, 'bob')
      case 'owner':
        return loggedIn(test, 'alice')
      case 'admin':
        return loggedIn(test, 'root')
      case 'due': {
        const visitor = await arrive('due', [])
        const old = 'UPDATE identities SET logged_in_at = ? WHERE subject = ?'
        await run(database, old, '2026-10-20T12:00:00Z', 'due')
        return visitor
      }
      case 'colleague':
        return arrive('colleague', ['go'])
      case 'former member':
        return arrive('former', [])
      case 'member':
        return arrive('member', ['rust'])
      default:
        return visitor
    }
  }
  return { test, visitorOf }
}

/** No page with an identity is kept, framed, sniffed or says elsewhere where it was. */
function assertGuarded({ headers }: Response, what: string): void {
  const expected = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': what.includes('?link=') ? 'strict-origin' : 'same-origin',
    'x-frame-options': 'DENY',
  }
  for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, what)
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none';(?!.*unsafe).*; frame-ancestors 'none'$/, what)
}

test('the slashes at the end of an address are taken off at once, however many come before others', async t => {
  const test = await TestRegistry.open(t)
  const location = async (path: string) => (await test.app.request(path)).headers.get('location')
  assert.match((await location('/me/login//?a=b')) ?? '', /\/me\/login\?a=b$/)
  const path = `/me${'/'.repeat(200_000)}x`
  assert.equal((await frugallyInTheEnd(() => test.request('GET', path))).status, 404)
})
