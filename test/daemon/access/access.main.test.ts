// Mirrors daemon/access/: every route, for everybody
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Code, issue } from '../../../core/error/error.ts'
import { parseName } from '../../../core/name.ts'
import { jobOf } from '../../../core/trust/explain.ts'
import { parseClaims } from '../../../core/trust/rule.ts'
import { routes } from '../../../daemon/app.ts'
import { addUser, findUser, setLocked } from '../../../generator/accounts/accounts.ts'
import { addOwners } from '../../../generator/accounts/ownership.ts'
import { makeToken, revokeToken } from '../../../generator/accounts/tokens.ts'
import { all, type Row, run } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { addRule } from '../../../generator/trust/rules-changes.ts'
import { makeTrustedToken } from '../../../generator/trust/trusted-tokens.ts'
import { type Ask, GROUPS, type Group, TABLE, type Verdict } from '../../support/access-table.ts'
import { colleague, NO_ISSUER } from '../../support/oidc-registry.ts'
import { assertPrinted } from '../../support/printed-table.ts'
import { NO_UPSTREAM, TestRegistry } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'
import { JOBS, RULES } from '../../support/trusted-jobs.ts'
import { loggedIn } from '../../support/visitor.ts'

const AT = '2026-11-20T12:00:00Z'

/** Every kind of token that is good for nothing. */
const BAD = [
  ...(['malformed', 'mistyped', 'unknown', 'the hash of one'] as const),
  ...(['expired', 'revoked', 'of a locked user', 'of a job that ended'] as const),
  'whose login is due',
]
/** With the account of a company, and whose answers theirs are. */
const COLLEAGUES = new Map<string, Group>([
  ['colleague', 'stranger'],
  ['former member', 'stranger'],
  ['member', 'owner'],
])
type Caller =
  | Exclude<Group, 'bad'>
  | (typeof BAD)[number]
  | 'colleague'
  | 'former member'
  | 'member'
const CALLERS: readonly Caller[] = [
  'nobody',
  ...BAD,
  'stranger',
  'lacking',
  'elsewhere',
  'owner',
  'trusted',
  'colleague',
  'former member',
  'member',
]

const groupOf = (caller: Caller): Group =>
  BAD.some(bad => bad === caller) ? 'bad' : (COLLEAGUES.get(caller) ?? (caller as Group))

/** Whoever holds the token of a locked user or a job, or one that has expired, is told so. */
function verdictOf(ask: Ask, kind: 'public' | 'private', caller: Caller): Verdict {
  const verdict = ask[kind][groupOf(caller)]
  // A token that has ended may be ended once more.
  if (caller === 'of a job that ended' && verdict === 401) return 204
  if (verdict !== 'token_rejected') return verdict
  if (caller === 'of a job that ended') return 'trusted_token_rejected'
  if (caller === 'whose login is due') return 'login_due'
  return caller === 'of a locked user'
    ? 'account_locked'
    : caller === 'expired'
      ? 'token_expired'
      : verdict
}

/** The settings under which the daemon has every route. */
const PRINTED = {
  PLIMSOLL_API_ERROR_STATUS: 'http',
  PLIMSOLL_REGISTRY_DL: `${BASE}/dl`,
  PLIMSOLL_ISSUER_GITHUB_SHARED: 'auto',
  ...NO_ISSUER,
  ...NO_UPSTREAM,
}

/** A registry with `demo` of alice, its git index, and a token for each caller. */
async function prepared(t: TestContext, env: Record<string, string>) {
  const test = await TestRegistry.open(t, { env: { ...PRINTED, ...env }, git: true })
  const { database } = test.registry
  const alice = await test.user('alice')
  await test.publish(alice, {
    name: 'demo',
    version: '1.0.0',
    files: { 'src/lib.rs': 'pub fn demo() {}\n' },
  })
  await test.indexWorker.pages.flush()
  const stranger = await test.user('bob')
  await addUser(database, { login: 'carol', admin: false }, operatorChange(AT))
  const locked = await test.user('dora')
  const dora = (await findUser(database, 'dora')) ?? assert.fail()
  await setLocked(test.registry, dora, true, operatorChange(AT))
  const expired = await test.token(1, { expires: '2026-11-20T11:59:59Z' })
  const revoked = await test.token(1, { name: 'revoked' })
  const rows = await all<Row<'tokens'>>(database, 'SELECT id, hash FROM tokens ORDER BY id')
  await revokeToken(database, rows.at(-1)?.id ?? 0, operatorChange(AT))
  const mistyped = `${alice.slice(0, -1)}${alice.endsWith('0') ? '1' : '0'}`
  const arrive = async (login: string, ...groups: string[]) => {
    await colleague(test, login, groups)
    return test.token((await findUser(database, login))?.id ?? assert.fail())
  }
  const member = await arrive('member', 'rust')
  const former = await arrive('former', 'rust')
  const demo = (await findCrate(database, parseName('demo'))) ?? assert.fail()
  await addOwners(test.registry, demo, ['group:rust'], operatorChange(AT))
  await arrive('former')
  const due = await arrive('due')
  const old = "UPDATE identities SET logged_in_at = ? WHERE subject = 'due'"
  await run(database, old, '2026-10-20T12:00:00Z')
  const fixed: Partial<Record<Caller, string | null>> = {
    colleague: await arrive('colleague', 'go'),
    'former member': former,
    member,
    'whose login is due': due,
    nobody: null,
    malformed: 'ghp_0123456789',
    mistyped,
    unknown: makeToken(),
    'the hash of one': rows[0]?.hash ?? assert.fail(),
    expired,
    revoked,
    'of a locked user': locked,
    stranger,
    elsewhere: await test.token(1, { crates: ['demo2', 'other-*'] }),
    owner: alice,
  }
  const order = { crate: 'demo', issuer: 'github', claims: parseClaims(RULES.github), owner: null }
  const { rule } = await addRule(test.registry, order, operatorChange(AT))
  const job = jobOf({ kind: 'github', issuer: 'https://ci.test' }, JOBS.github)
  // Each of its own: one of the requests ends it.
  const ofJob = (at: string) =>
    database.transaction(tx => makeTrustedToken(tx, { rules: [rule.id], job }, new Date(at)))
  const tokenOf = async (caller: Caller, ask: Ask): Promise<string | null> => {
    if (caller === 'trusted') return ofJob(AT)
    // Somebody who can be removed once more.
    if (caller === 'member') await addOwners(test.registry, demo, ['carol'], operatorChange(AT))
    if (caller === 'of a job that ended') return ofJob('2026-11-20T11:29:59Z')
    if (caller === 'lacking') return test.token(1, { scopes: ask.lacking })
    const token = fixed[caller]
    return token === undefined ? assert.fail(caller) : token
  }
  return { test, tokenOf }
}

/** The routes that a token may open; with sessions, `visits.main.test.ts` walks what browsers take. */
const routesForTokens = (test: TestRegistry) =>
  routes(test).filter(({ path }) => !/^\/me\b/.test(path))

for (const kind of ['public', 'private'] as const) {
  test(`every route of a ${kind} registry, for everybody`, async t => {
    const { test, tokenOf } = await prepared(t, {
      PLIMSOLL_AUTH_REQUIRED: String(kind === 'private'),
    })
    const declared = routesForTokens(test).map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(declared.sort(), Object.keys(TABLE).sort(), 'each route has its row in TABLE')
    for (const [route, asks] of Object.entries(TABLE)) {
      const [method = ''] = route.split(' ')
      for (const ask of asks) {
        for (const caller of CALLERS) {
          const token = await tokenOf(caller, ask)
          const ways = ask.path.startsWith('/index.git/') && token ? [token, basic(token)] : [token]
          for (const way of ways) {
            const headers = ask.headers ?? {}
            const response = await test.request(method, ask.path, way, {
              body: ask.body?.() ?? null,
              headers,
            })
            const what = `${kind}: ${method} ${ask.path} by ${caller}`
            await assertVerdict(response, ask, verdictOf(ask, kind, caller), what, LOGINS[caller])
            const isOpen = kind === 'public' || ask.private.nobody === 200
            if (method === 'GET' && !isOpen && response.status < 400)
              assert.match(response.headers.get('cache-control') ?? '', /private|no-store/, what)
          }
        }
      }
    }
  })
}

/** Who are told their names. */
const LOGINS: Partial<Record<Caller, string>> = {
  colleague: 'colleague',
  'former member': 'former',
}

/** How git sends a token: as the password of anybody. */
function basic(token: string): string {
  return `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}`
}

const REJECTIONS: readonly Verdict[] = [
  ...(['token_rejected', 'token_expired', 'account_locked', 'trusted_token_rejected'] as const),
  'login_due',
]

/** Where a refusal of a token is a challenge: wherever readers of a private registry would be let in. */
const CHALLENGED: ReadonlySet<Verdict> = new Set(['token_absent', ...REJECTIONS])

/** Whether a refusal is a challenge, on which Cargo or git sends its token. */
function isChallenge({ path, public: open }: Ask, verdict: Verdict): boolean {
  const isApiCall = path.startsWith('/api/') && !path.endsWith('/download')
  const isRefused = REJECTIONS.includes(verdict) && isApiCall
  return open.nobody !== 'token_absent' && CHALLENGED.has(verdict) && !isRefused
}

function statusOf(ask: Ask, verdict: Verdict): number {
  if (typeof verdict === 'number') return verdict
  return verdict.endsWith('_unknown') ? 404 : isChallenge(ask, verdict) ? 401 : 403
}

/** Exactly the status, and for a refusal exactly the body: one errors object, and nobody may keep it. */
async function assertVerdict(
  response: Response,
  ask: Ask,
  verdict: Verdict,
  what: string,
  login = 'bob',
): Promise<void> {
  const challenge = isChallenge(ask, verdict)
  const git = ask.path.startsWith('/index.git/') ? 'Basic realm="plimsoll", ' : ''
  assert.equal(
    response.headers.get('www-authenticate'),
    challenge ? `${git}Cargo login_url="${BASE}/me"` : null,
    what,
  )
  if (typeof verdict === 'number') return assert.equal(response.status, verdict, what)
  const expected = statusOf(ask, verdict)
  const errors = [{ detail: message(verdict, ask.wanted, login) }]
  assert.deepEqual([response.status, await response.json()], [expected, { errors }], what)
  assert.equal(response.headers.get('cache-control'), 'no-store', what)
}

/** What the rules of CI answer an owner of `demo`, and somebody else who has the right to ask. */
const MANAGED = /_configs|^PATCH \/api\/v1\/crates\/:name$/
function managed(method: string, path: string): readonly [owner: number, other: number] {
  if (method === 'POST') return [422, 422]
  if (method === 'DELETE') return path.includes('gitlab') ? [404, 404] : [204, 400]
  return [200, 400]
}

for (const kind of ['public', 'private'] as const) {
  test(`every route of a ${kind} registry, for sessions of a company, and tokens that name a scope`, async t => {
    const { test } = await prepared(t, { PLIMSOLL_AUTH_REQUIRED: String(kind === 'private') })
    const { database } = test.registry
    const callers: [login: string, like: Group][] = [
      ['former', 'stranger'],
      ['colleague', 'stranger'],
      ['due', 'nobody'],
      ['member', 'owner'],
    ]
    for (const [login, like] of callers) {
      const { id = assert.fail() } = (await findUser(database, login)) ?? {}
      const scopes = ['trusted-publishing'] as const
      const token = await test.token(id, { scopes: [...scopes] })
      const session = (await loggedIn(test, login)).cookies.get('plimsoll_session')
      const cookie = { cookie: `plimsoll_session=${session}`, 'sec-fetch-site': 'same-origin' }
      for (const [route, asks] of Object.entries(TABLE)) {
        const [method = ''] = route.split(' ')
        for (const ask of asks) {
          const send = (token: string | null, headers: Record<string, string>) =>
            test.request(method, ask.path, token, { body: ask.body?.() ?? null, headers })
          const what = `${kind}: ${method} ${ask.path} by the session of ${login}`
          if (MANAGED.test(route)) {
            const [owner, other] = managed(method, ask.path)
            const right = like === 'nobody' ? 403 : like === 'owner' ? owner : other
            const type = { 'content-type': 'application/json' }
            const inBrowser = await send(null, { ...type, ...cookie })
            assert.equal(inBrowser.status, right, what)
            // A rule that was removed is gone.
            const withToken = await send(token, type)
            assert.equal(withToken.status, right === 204 ? 404 : right, `${what}, with a token`)
            continue
          }
          const isRead = method === 'GET' && ask.public.nobody !== 'token_absent'
          const verdict = ask[kind][isRead ? like : 'nobody']
          await assertVerdict(
            await send(null, { ...ask.headers, ...cookie }),
            ask,
            verdict,
            what,
            login,
          )
        }
      }
    }
  })
}

test('docs/run/access.md prints who gets what with which token', async t => {
  const test = await TestRegistry.open(t, { env: PRINTED, git: true })
  const rows = routesForTokens(test).flatMap(({ method, path, access }) =>
    (TABLE[`${method} ${path}`] ?? []).map(ask => {
      const cells = GROUPS.map(group => {
        const [open, closed] = [statusOf(ask, ask.public[group]), statusOf(ask, ask.private[group])]
        return open === closed ? String(open) : `${open} · ${closed}`
      })
      const needs = [access].flat().join(', ')
      return [`\`${method} ${ask.path.replace(/(?<=^\/assets\/).*/, '…')}\``, needs, ...cells]
    }),
  )
  assertPrinted('tokens', [['request', 'access', ...GROUPS], ...rows])
})

/** The words of an objection to anything that is asked of `demo` here. */
function message(code: Code, scope: string, login: string): string {
  const name = code === 'crate_unknown' ? 'none' : 'demo'
  const version = code === 'release_unknown' ? '9.9.9' : '1.0.0'
  const word = issue as (code: Code, params: object) => { message: string }
  return word(code, { at: AT, me: `${BASE}/me`, scope, name, version, login }).message
}

test('no file of a private registry is shown to a stranger, of whatever kind it is', async t => {
  const { test, tokenOf } = await prepared(t, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  const { root } = test.registry.tree
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(root, join(entry.parentPath, entry.name)))
  for (const part of ['crates/demo/crate.json', '.xml', 'src/index.html', 'index.git/objects/'])
    assert.ok(paths.join('\n').includes(part), `${part} is among ${paths.join(' ')}`)
  const open = paths.filter(path => path.startsWith('assets/') || path === 'favicon.ico')
  assert.ok(open.length > 0)
  for (const path of paths) {
    for (const method of ['GET', 'HEAD']) {
      for (const url of new Set([`/${path}`, `/${path.replace(/(^|\/)index\.html$/, '$1')}`])) {
        const { status } = await test.request(method, url)
        assert.equal(status, open.includes(path) ? 200 : 401, `${method} ${url}`)
      }
    }
  }
  // The stylesheet is open because the page to log in needs it; nothing in it is about this registry.
  const owner = await tokenOf('owner', { lacking: [] } as unknown as Ask)
  assert.equal((await test.request('GET', '/crates/demo/crate.json', owner)).status, 200)
})

test('the list of owners needs a token, also where owners.public is off', async t => {
  const ask = TABLE['GET /api/v1/crates/:name/owners']?.[0] ?? assert.fail()
  const { test, tokenOf } = await prepared(t, { PLIMSOLL_OWNERS_PUBLIC: 'false' })
  for (const caller of CALLERS) {
    const response = await test.request('GET', ask.path, await tokenOf(caller, ask))
    await assertVerdict(response, ask, verdictOf(ask, 'public', caller), caller)
  }
})

test('what nobody serves is 404, in whatever way it is asked for', async t => {
  const test = await TestRegistry.open(t)
  const asks: [string, string][] = [
    ['POST', '/index/config.json'],
    ['PUT', '/index/de/mo/demo'],
    ['DELETE', '/api/v1/crates/demo'],
    ['PATCH', '/api/v1/crates/demo/1.0.0/none'],
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

test('slashes before the path of an API or index, and a query after it, do not matter', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0+a' })
  assert.equal((await test.request('GET', '//index/config.json')).status, 200)
  assert.equal((await test.request('GET', '///index/config.json?x=/../y#z')).status, 200)
  // A proxy that keeps `/metrics` from others knows it by this path alone.
  assert.equal((await test.request('GET', '/metrics')).status, 200)
  for (const other of ['//metrics', '///metrics', '//me', '//healthz'])
    assert.equal((await test.request('GET', other)).status, 404, other)
  const yank = await test.request('DELETE', '//api/v1/crates/demo/1.0.0+a/yank?force', token)
  assert.deepEqual(await yank.json(), { ok: true })
  const encoded = await test.request('PUT', '/api/v1/crates/demo/1.0.0%2Ba/unyank', token)
  assert.deepEqual(await encoded.json(), { ok: true })
})

test('the login_url of a challenge cannot break out of its quotes', async t => {
  const env = {
    PLIMSOLL_AUTH_REQUIRED: 'true',
    PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test/a"b, Basic realm="x',
  }
  await assert.rejects(TestRegistry.open(t, { env }), /base_url/)
  const quoted = { ...env, PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test/a"b' }
  const test = await TestRegistry.open(t, { env: quoted })
  const response = await test.request('GET', '/index/config.json')
  assert.equal(
    response.headers.get('www-authenticate'),
    'Cargo login_url="http://crates.test/a%22b/me"',
  )
})

test('strangers to a private registry see its logo and stylesheet on the form to log in, and nothing beside them', async t => {
  const test = await TestRegistry.open(t, {
    env: {
      PLIMSOLL_AUTH_REQUIRED: 'true',
      PLIMSOLL_PAGES_LOGO: 'brand/logo.svg',
      PLIMSOLL_PAGES_STYLESHEET: 'brand/own.css',
    },
  })
  for (const name of ['logo.svg', 'own.css', 'other.css']) {
    const bytes = Buffer.from(name)
    const file = { path: `brand/${name}`, contentType: '', cache: 'revalidate' } as const
    await test.registry.tree.write({ ...file, bytes })
    const { status } = await test.request('GET', `/${file.path}`)
    assert.equal(status, name === 'other.css' ? 401 : 200, name)
  }
  assert.match(await (await test.request('GET', '/me')).text(), /brand\/logo\.svg/)
})
