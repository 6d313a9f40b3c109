import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addUser } from '../../daemon/accounts.ts'
import { routes } from '../../daemon/app.ts'
import { makeToken, type Scope } from '../../daemon/tokens.ts'
import { assets } from '../../site/index.ts'
import { BASE, publishRequest, TestRegistry } from '../support/registry.ts'

/** Who asks: nobody, tokens that are none, those of another user, those not good for it, and the owner of `demo`. */
const CALLERS = ['nobody', 'made up', 'no token of ours', 'expired', 'stranger', 'lacking', 'owner'] as const
type Statuses = readonly [number, number, number, number, number, number, number]

interface Ask {
  readonly path: string
  readonly body?: () => RequestInit['body']
  /** What the token that lacks something is good for. */
  readonly lacking: readonly Scope[]
  readonly public: Statuses
  readonly private: Statuses
}

const OPEN: Statuses = [200, 200, 200, 200, 200, 200, 200]
const READER: Statuses = [401, 401, 401, 401, 200, 403, 200]
/** What a token of any kind opens. */
const MEMBER: Statuses = [403, 403, 403, 403, 200, 200, 200]
const OWNER: Statuses = [403, 403, 403, 403, 403, 403, 200]

const reader = (path: string): Ask => ({ path, lacking: ['yank'], public: OPEN, private: READER })
const open = (path: string): Ask => ({ path, lacking: ['yank'], public: OPEN, private: OPEN })
const ALL_404: Statuses = [404, 404, 404, 404, 404, 404, 404]
const missing = (path: string): Ask => ({
  path,
  lacking: ['yank'],
  public: ALL_404,
  private: [401, 401, 401, 401, 404, 403, 404],
})
const owner = (path: string, lacking: Scope, body?: () => RequestInit['body']): Ask => {
  return { path, lacking: [lacking], public: OWNER, private: OWNER, ...(body && { body }) }
}

/** What only a browser opens: of whatever a token is, it is none here. */
const browser = (path: string, status: number): Ask => {
  const all: Statuses = [status, status, status, status, status, status, status]
  return { path, lacking: ['yank'], public: all, private: all }
}
/** Without a login: a page to look at leads to the login, a form is refused. */
const look = (path: string) => [browser(path, 303)]
const form = (path: string) => [
  { ...browser(path, 403), body: () => new URLSearchParams({ login: 'alice', password: 'x', csrf: 'made up' }) },
]

let published = 1
const nextVersion = () => publishRequest({ name: 'demo', version: `1.0.${published++}` })
const users = () => JSON.stringify({ users: ['carol'] })

/** Every route of the daemon. A new one goes in here with what it answers to whom, or the test below fails. */
const TABLE: Readonly<Record<string, readonly Ask[]>> = {
  'GET /healthz': [open('/healthz')],
  'GET /readyz': [open('/readyz')],
  'GET /metrics': [reader('/metrics')],
  'GET /search/': [reader('/search/?q=demo')],
  'PUT /api/v1/crates/new': [owner('/api/v1/crates/new', 'read', nextVersion)],
  'DELETE /api/v1/crates/:name/:version/yank': [owner('/api/v1/crates/demo/1.0.0/yank', 'publish-update')],
  'PUT /api/v1/crates/:name/:version/unyank': [owner('/api/v1/crates/demo/1.0.0/unyank', 'publish-update')],
  'GET /api/v1/crates/:name/owners': [
    { path: '/api/v1/crates/demo/owners', lacking: ['yank'], public: MEMBER, private: MEMBER },
  ],
  'PUT /api/v1/crates/:name/owners': [owner('/api/v1/crates/demo/owners', 'yank', users)],
  'DELETE /api/v1/crates/:name/owners': [owner('/api/v1/crates/demo/owners', 'yank', users)],
  'GET /api/v1/crates': [reader('/api/v1/crates?q=demo')],
  'GET /api/v1/summary': [reader('/api/v1/summary')],
  'GET /api/openapi.json': [reader('/api/openapi.json')],
  'GET /api/v1/crates/:name': [reader('/api/v1/crates/demo'), missing('/api/v1/crates/none')],
  'GET /api/v1/crates/:name/versions': [reader('/api/v1/crates/demo/versions')],
  'GET /api/v1/crates/:name/reverse_dependencies': [reader('/api/v1/crates/demo/reverse_dependencies')],
  'GET /api/v1/crates/:name/downloads': [reader('/api/v1/crates/demo/downloads')],
  'GET /api/v1/crates/:name/:version': [reader('/api/v1/crates/demo/1.0.0'), missing('/api/v1/crates/demo/9.9.9')],
  'GET /api/v1/crates/:name/:version/dependencies': [reader('/api/v1/crates/demo/1.0.0/dependencies')],
  'GET /api/v1/crates/:name/:version/downloads': [reader('/api/v1/crates/demo/1.0.0/downloads')],
  'GET /api/v1/crates/:name/:version/authors': [reader('/api/v1/crates/demo/1.0.0/authors')],
  'GET /api/v1/crates/:name/:version/readme': [missing('/api/v1/crates/demo/1.0.0/readme')],
  'GET /api/v1/crates/:name/:version/download': [
    reader('/api/v1/crates/demo/1.0.0/download'),
    missing('/api/v1/crates/none/1.0.0/download'),
  ],
  'GET /dl/:name/:version/download': [reader('/dl/demo/1.0.0/download'), missing('/dl/demo/9.9.9/download')],
  'GET /me': [browser('/me', 200)],
  'GET /me/login': [browser('/me/login', 200)],
  'POST /me/login': form('/me/login'),
  'POST /me/logout': form('/me/logout'),
  'GET /me/password': [browser('/me/password', 403)],
  'POST /me/password': form('/me/password'),
  'POST /me/tokens': form('/me/tokens'),
  'POST /me/tokens/:id/revoke': form('/me/tokens/1/revoke'),
  'POST /me/sessions/:id/end': form('/me/sessions/1/end'),
  'POST /me/invitations/:name/accept': form('/me/invitations/demo/accept'),
  'POST /me/invitations/:name/decline': form('/me/invitations/demo/decline'),
  'GET /me/crates/:name': look('/me/crates/demo'),
  'GET /me/crates/:name/yank': look('/me/crates/demo/yank'),
  'POST /me/crates/:name/yank': form('/me/crates/demo/yank'),
  'GET /me/crates/:name/unyank': look('/me/crates/demo/unyank'),
  'POST /me/crates/:name/unyank': form('/me/crates/demo/unyank'),
  'POST /me/crates/:name/owners/add': form('/me/crates/demo/owners/add'),
  'GET /me/crates/:name/owners/remove': look('/me/crates/demo/owners/remove'),
  'POST /me/crates/:name/owners/remove': form('/me/crates/demo/owners/remove'),
  'GET /me/admin/users': look('/me/admin/users'),
  'POST /me/admin/users/add': form('/me/admin/users/add'),
  'POST /me/admin/users/:login/:action': form('/me/admin/users/alice/lock'),
  'GET /me/admin/audit': look('/me/admin/audit'),
  'GET /me/*': [browser('/me/nothing', 404)],
  'GET /assets/*': [open(`/${assets[0]?.path}`)],
  'GET /*': [
    { ...reader('/index/config.json'), private: [401, 401, 401, 401, 200, 200, 200] },
    reader('/index/de/mo/demo'),
    reader('/crates/demo/demo-1.0.0.crate'),
    reader('/'),
    missing('/index/no/ne/none'),
    missing('/crates/none/none-1.0.0.crate'),
    missing('/none.html'),
  ],
}

/** A registry with `demo` of alice, and a token for each caller. */
async function prepared(t: TestContext, env: Record<string, string>) {
  const settings = { PLIMSOLL_API_ERROR_STATUS: 'http', PLIMSOLL_REGISTRY_DL: `${BASE}/dl`, ...env }
  const test = await TestRegistry.open(t, { env: settings })
  await test.registry.tree.write({
    path: 'index.html',
    contentType: 'text/html',
    cache: 'revalidate',
    bytes: Buffer.from('front'),
  })
  const alice = await test.user('alice')
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
  const stranger = await test.user('bob')
  await addUser(test.registry.database, { login: 'carol', admin: false, at: '2026-11-20T12:00:00Z' })
  const expired = await test.token(1, { expires: '2026-11-20T11:59:59Z' })
  const tokenOf = async (caller: (typeof CALLERS)[number], ask: Ask): Promise<string | null> => {
    switch (caller) {
      case 'nobody':
        return null
      case 'made up':
        return makeToken()
      case 'no token of ours':
        return 'ghp_0123456789'
      case 'expired':
        return expired
      case 'stranger':
        return stranger
      case 'lacking':
        return test.token(1, { scopes: ask.lacking })
      case 'owner':
        return alice
    }
  }
  return { test, tokenOf }
}

for (const kind of ['public', 'private'] as const) {
  test(`every route of a ${kind} registry, for everybody`, async t => {
    const { test, tokenOf } = await prepared(t, { PLIMSOLL_AUTH_REQUIRED: String(kind === 'private') })
    // Here everybody comes with a token or none; with sessions, `visits.test.ts` walks what browsers take.
    const declared = routes(test).map(route => `${route.method} ${route.path}`)
    assert.deepEqual(declared.sort(), Object.keys(TABLE).sort(), 'each route has its row in TABLE')
    for (const [route, asks] of Object.entries(TABLE)) {
      const [method = '', path = ''] = route.split(' ')
      for (const ask of asks) {
        for (const [i, caller] of CALLERS.entries()) {
          const body = ask.body?.() ?? null
          const response = await test.request(method, ask.path, await tokenOf(caller, ask), { body })
          const what = `${kind}: ${method} ${ask.path} by ${caller}`
          assert.equal(response.status, ask[kind][i], `${what}: ${await response.clone().text()}`)
          const challenge = response.status === 401 ? `Cargo login_url="${BASE}/me"` : null
          assert.equal(response.headers.get('www-authenticate'), challenge, what)
          if (response.status >= 400 && !path.startsWith('/me')) await assertRefusal(response, what)
        }
      }
    }
  })
}

/** Every refusal is the errors object, and nobody may keep it. */
async function assertRefusal(response: Response, what: string): Promise<void> {
  assert.equal(response.headers.get('cache-control'), 'no-store', what)
  const body = (await response.json()) as { errors: { detail: string }[] }
  assert.deepEqual(Object.keys(body), ['errors'], what)
  assert.equal(body.errors.length, 1, what)
}

test('owners.public opens the list of owners, in a private registry to its readers', async t => {
  const ask = TABLE['GET /api/v1/crates/:name/owners']?.[0]
  assert.ok(ask)
  for (const [required, statuses] of [
    ['false', OPEN],
    ['true', READER],
  ] as const) {
    const env = { PLIMSOLL_OWNERS_PUBLIC: 'true', PLIMSOLL_AUTH_REQUIRED: required }
    const { test, tokenOf } = await prepared(t, env)
    for (const [i, caller] of CALLERS.entries()) {
      assert.equal((await test.request('GET', ask.path, await tokenOf(caller, ask))).status, statuses[i], caller)
    }
  }
})

test('what nobody serves is 404, in whatever way it is asked for', async t => {
  const test = await TestRegistry.open(t)
  const asks: [string, string][] = [
    ['POST', '/index/config.json'],
    ['PUT', '/index/de/mo/demo'],
    ['DELETE', '/api/v1/crates/demo'],
    ['PATCH', '/api/v1/crates/new'],
    ['GET', '/api/v1/crates/demo/1.0.0/none'],
    ['OPTIONS', '/api/v1/crates/new'],
    ['GET', '/api/v2/anything'],
  ]
  for (const [method, path] of asks) {
    const response = await test.request(method, path)
    assert.deepEqual(
      [response.status, await response.json()],
      [404, { errors: [{ detail: 'there is nothing here' }] }],
      `${method} ${path}`,
    )
  }
})

test('slashes before the path and a query after it do not matter', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0+a' })
  assert.equal((await test.request('GET', '//index/config.json')).status, 200)
  assert.equal((await test.request('GET', '///index/config.json?x=/../y#z')).status, 200)
  const yank = await test.request('DELETE', '//api/v1/crates/demo/1.0.0+a/yank?force', token)
  assert.deepEqual(await yank.json(), { ok: true })
  const encoded = await test.request('PUT', '/api/v1/crates/demo/1.0.0%2Ba/unyank', token)
  assert.deepEqual(await encoded.json(), { ok: true })
})

test('HEAD is answered like GET, without a body', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_AUTH_REQUIRED: 'true' } })
  const token = await test.user('alice')
  const refused = await test.request('HEAD', '/index/config.json')
  assert.deepEqual([refused.status, await refused.text()], [401, ''])
  const fine = await test.request('HEAD', '/index/config.json', token)
  assert.deepEqual([fine.status, await fine.text()], [200, ''])
})

test('the login_url of a challenge cannot break out of its quotes', async t => {
  const env = { PLIMSOLL_AUTH_REQUIRED: 'true', PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test/a"b, Basic realm="x' }
  await assert.rejects(TestRegistry.open(t, { env }), /base_url/)
  const quoted = { ...env, PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test/a"b' }
  const test = await TestRegistry.open(t, { env: quoted })
  const response = await test.request('GET', '/index/config.json')
  assert.equal(response.headers.get('www-authenticate'), 'Cargo login_url="http://crates.test/a%22b/me"')
})
