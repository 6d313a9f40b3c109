// Mirrors daemon/access/: rights that end during a request
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { routes } from '../../../daemon/app.ts'
import {
  addUser,
  requireUser,
  setAdmin,
  setLocked,
  type User,
} from '../../../generator/accounts/accounts.ts'
import { makeLink } from '../../../generator/accounts/credentials.ts'
import { addOwners, inviteOwners, removeOwners } from '../../../generator/accounts/ownership.ts'
import { endSessions } from '../../../generator/accounts/sessions.ts'
import { createToken, revokeToken, SCOPES } from '../../../generator/accounts/tokens.ts'
import { all, type Row as DbRow, LIST, one, run } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { addRule } from '../../../generator/trust/rules-changes.ts'
import { keepAlarm, listAlarms } from '../../../generator/upstream/alarms.ts'
import { NO_UPSTREAM, TestRegistry } from '../../support/registry.ts'
import { publishRequest } from '../../support/release.ts'
import { form, loggedIn, PASSWORD, Visitor, withPassword } from '../../support/visitor.ts'

const AT = '2026-11-20T12:00:00Z'
const OPERATOR = operatorChange(AT)

/** Somebody who changes something, with what the rows need of theirs. */
interface Sender {
  readonly user: User
  readonly visitor: Visitor
  readonly token: string
  readonly tokenId: number
  /** Another session of theirs. */
  readonly sessionId: number
  /** Rules for `demo`, by issuer. */
  readonly ruleIds: Readonly<Record<string, number>>
  /** A user whom nothing has happened to. */
  readonly other: string
}

const crateOf = async ({ registry }: TestRegistry, name: string) =>
  (await findCrate(registry.database, parseName(name))) ?? assert.fail(name)

const alarmPlace = ({ upstreams }: TestRegistry) =>
  upstreams.byName.get('up')?.source.place ?? assert.fail()

const IDENTITY = 'INSERT INTO identities (issuer, subject, user_id, linked_at) VALUES (?, ?, ?, ?)'

/** How a sender loses the right to a change. */
const LOSSES = {
  'a session that ends': ({ registry }, { user }) => endSessions(registry.database, user, OPERATOR),
  'a token that is revoked': ({ registry }, { tokenId }) =>
    revokeToken(registry.database, tokenId, OPERATOR),
  'a lock': ({ registry }, { user }) => setLocked(registry, user, true, OPERATOR),
  'a login that is due': ({ registry }, { user }) =>
    run(registry.database, IDENTITY, `https://${user.login}.example`, user.login, user.id, AT),
  'a new password': (test, { user }) => withPassword(test, user.login, 'a newer good one'),
  'a demotion': ({ registry }, { user }) => setAdmin(registry, user, false, OPERATOR),
  'a crate that is lost': async (test, { user }) =>
    removeOwners(test.registry, await crateOf(test, 'demo'), [user.login], OPERATOR),
} satisfies Record<string, (test: TestRegistry, sender: Sender) => Promise<unknown>>

/** What is said where a right ends as the body arrives, and just before the transaction. */
type Refusals = { readonly [Loss in keyof typeof LOSSES]?: readonly [string, string] }

const both = (text: string) => [text, text] as const
const NO_FORM = 'The form came from another site or is too old'
const SESSION: Refusals = {
  'a session that ends': [NO_FORM, 'You are not logged in, or your session has ended'],
  'a lock': [NO_FORM, 'You are not logged in, or your session has ended'],
}
// One statement tells it of all sessions.
const DUE: Refusals = {
  ...SESSION,
  'a login that is due': [NO_FORM, 'You are not logged in, or your session has ended'],
}
const ADMIN: Refusals = { ...SESSION, 'a demotion': both('Only administrators may do that') }
const OWNER: Refusals = { ...SESSION, 'a crate that is lost': both('is not an owner of') }
const DEMOTED: Refusals = { ...SESSION, 'a demotion': both('is not an owner of') }
const LOGIN: Refusals = {
  'a login that is due': both('This account has to log in at its issuer again'),
  'a lock': both('The username or the password is wrong, or the account is locked'),
  'a new password': both('The username or the password is wrong, or the account is locked'),
}
const TOKEN: Refusals = {
  'a lock': both('its user was locked while the request arrived'),
  'a token that is revoked': both('the token was revoked or'),
}
const DUE_TOKEN: Refusals = {
  'a login that is due': both('its user was locked while the request arrived'),
}
const OWNER_TOKEN: Refusals = {
  ...TOKEN,
  ...DUE_TOKEN,
  'a crate that is lost': both('is not an owner of'),
}
const ADMIN_TOKEN: Refusals = { ...TOKEN, 'a demotion': both('is not an owner of') }

type Body = (
  sender: Sender,
  test: TestRegistry,
) => Record<string, string> | Uint8Array | Promise<Record<string, string>>

/** A change, and who loses the right to it how. */
interface Row {
  readonly refusals: Refusals
  readonly body: Body | null
  /** What follows the method in the route, by default with the names of `demo` 1.0.0. */
  readonly path?: (sender: Sender) => string
  /** What an administrator sends, who owns nothing; others own `demo`. */
  readonly isAdmin?: boolean
  /** Whether it is sent by a browser that is not logged in. */
  readonly isStranger?: boolean
}

const row = (refusals: Refusals, body: Row['body'] = null, more: Partial<Row> = {}): Row => {
  return { refusals, body, ...more }
}
const version = () => ({ version: '1.0.0' })
const login = ({ other }: Sender) => ({ login: other })
const json = ({ other }: Sender) => Buffer.from(JSON.stringify({ users: [other] }))
const newAdmin = ({ user }: Sender) => ({ login: `new-${user.login}`, admin: '1' })
const self = ({ user }: Sender) => ({ login: user.login })
const selfInJson = ({ user }: Sender) => Buffer.from(JSON.stringify({ users: [user.login] }))
let published = 1
const publish = () => publishRequest({ name: 'demo', version: `1.0.${published++}` })
const password = ({ user }: Sender) => ({ login: user.login, password: PASSWORD })
const another = { password: 'another good one', again: 'another good one' }
const current = () => ({ current: PASSWORD, ...another })
const byLink = async ({ user }: Sender, { registry, now }: TestRegistry) => ({
  reset: await makeLink(registry.database, user, now, OPERATOR),
  ...another,
})

const asJson = (body: object) => Buffer.from(JSON.stringify(body))
const off = () => ({ crate: 'acme-*', off: '1' })
const CONFIG_PATH = '/api/v1/trusted_publishing'
/** Rules as crates.io's API has them, by provider. */
const CONFIGS: Readonly<Record<string, object>> = {
  github: { repository_owner: 'acme', repository_name: 'demo', workflow_filename: 'ci.yml' },
  gitlab: { namespace: 'acme', project: 'demo', workflow_filepath: '.gitlab-ci.yml' },
}

const alarmed = async (_: Sender, test: TestRegistry) => {
  const [crate, version] = ['keel', parseVersion('1.0.0')] as const
  await keepAlarm(alarmPlace(test), { kind: 'gone', name: parseName(crate), version, at: AT })
  return { crate, version }
}

/** Every route that changes something. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'POST /me/login': [row(LOGIN, password, { isStranger: true })],
  'POST /me/logout': [row(SESSION)],
  'POST /me/password': [
    row({ ...SESSION, 'a new password': SESSION['a lock'] ?? assert.fail() }, current),
    row({ 'a lock': both('The account of this link is locked') }, byLink, { isStranger: true }),
  ],
  'POST /me/tokens': [row(DUE, () => ({ access: 'full', name: 'new' }))],
  'POST /me/tokens/:id/revoke': [
    row(SESSION, null, { path: ({ tokenId }) => `/me/tokens/${tokenId}/revoke` }),
  ],
  'POST /me/sessions/:id/end': [
    row(SESSION, null, { path: ({ sessionId }) => `/me/sessions/${sessionId}/end` }),
  ],
  'POST /me/sessions/end': [row(SESSION)],
  'POST /me/invitations/:name/accept': [
    row(SESSION, null, { path: () => '/me/invitations/other/accept' }),
  ],
  'POST /me/invitations/:name/decline': [
    row(SESSION, null, { path: () => '/me/invitations/other/decline' }),
  ],
  'POST /me/crates/:name/yank': [row(OWNER, version), row(DEMOTED, version, { isAdmin: true })],
  'POST /me/crates/:name/unyank': [row(OWNER, version)],
  'POST /me/crates/:name/deprecate': [row(OWNER, () => ({ requirement: '*', reason: 'old' }))],
  'POST /me/crates/:name/undeprecate': [row(OWNER, () => ({ requirement: '*' }))],
  'POST /me/crates/:name/owners/add': [row(OWNER, login), row(DEMOTED, login, { isAdmin: true })],
  'POST /me/crates/:name/owners/remove': [row(OWNER, self)],
  'POST /me/admin/users/add': [row(ADMIN, newAdmin, { isAdmin: true })],
  'POST /me/admin/users/:login/:action': ['lock', 'unlock', 'promote', 'demote', 'reset'].map(
    action =>
      row(ADMIN, null, {
        isAdmin: true,
        path: ({ other }) => `/me/admin/users/${other}/${action}`,
      }),
  ),
  'POST /me/admin/upstream/:name/:action': ['allow', 'hold', 'accept'].map(action =>
    row(ADMIN, alarmed, { isAdmin: true, path: () => `/me/admin/upstream/up/${action}` }),
  ),
  'POST /me/crates/:name/trust/:action': [
    row(OWNER, off, { path: () => '/me/crates/demo/trust/only' }),
    row(DEMOTED, off, { path: () => '/me/crates/demo/trust/only', isAdmin: true }),
  ],
  'POST /me/admin/trust/:action': [
    row(ADMIN, off, { path: () => '/me/admin/trust/only', isAdmin: true }),
  ],
  'PATCH /api/v1/crates/:name': [row(TOKEN, () => asJson({ crate: { trustpub_only: false } }))],
  ...Object.fromEntries(
    Object.entries(CONFIGS).flatMap(([provider, config]) => [
      [
        `POST ${CONFIG_PATH}/${provider}_configs`,
        [row(TOKEN, () => asJson({ [`${provider}_config`]: { crate: 'demo', ...config } }))],
      ],
      [
        `DELETE ${CONFIG_PATH}/${provider}_configs/:id`,
        [
          row(TOKEN, null, {
            path: ({ ruleIds }) => `${CONFIG_PATH}/${provider}_configs/${ruleIds[provider]}`,
          }),
        ],
      ],
    ]),
  ),
  'PUT /api/v1/crates/new': [row({ ...OWNER_TOKEN, ...DUE_TOKEN }, publish)],
  'DELETE /api/v1/crates/:name/:version/yank': [
    row(OWNER_TOKEN),
    row(ADMIN_TOKEN, null, { isAdmin: true }),
  ],
  'PUT /api/v1/crates/:name/:version/unyank': [row(OWNER_TOKEN)],
  'PATCH /api/v1/crates/:name/:version': [
    row(OWNER_TOKEN, () => asJson({ version: { yanked: true } })),
  ],
  'PUT /api/v1/crates/:name/deprecation': [row(OWNER_TOKEN, () => asJson({ reason: 'old' }))],
  'DELETE /api/v1/crates/:name/deprecation': [row(OWNER_TOKEN)],
  'PUT /api/v1/crates/:name/owners': [
    row(OWNER_TOKEN, json),
    row(ADMIN_TOKEN, json, { isAdmin: true }),
  ],
  'DELETE /api/v1/crates/:name/owners': [row(OWNER_TOKEN, selfInJson)],
}

const request = new AsyncLocalStorage<() => Promise<void>>()

/** A registry in which `demo` and `other` are mate's, and what makes senders. */
async function prepared(t: TestContext) {
  const env = {
    PLIMSOLL_API_ERROR_STATUS: 'http',
    PLIMSOLL_AUTH_PASSWORD_COST: '14',
    PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '0',
    PLIMSOLL_ISSUER_GITHUB_SHARED: 'auto',
    PLIMSOLL_ISSUER_GITLAB_SHARED: 'auto',
    ...NO_UPSTREAM,
  }
  const beforeChange = async () => request.getStore()?.()
  const test = await TestRegistry.open(t, { env, beforeChange })
  const { database } = test.registry
  const mate = await test.user('mate')
  for (const name of ['demo', 'other'])
    assert.equal((await test.publish(mate, { name, version: '1.0.0' })).status, 200)
  await test.user('root', {}, true)
  await withPassword(test, 'root')
  const hashed = `SELECT password FROM users WHERE login = 'root'`
  const { password } = await one<DbRow<'users'>>(database, hashed)
  let count = 0
  const sender = async ({ isAdmin = false, isStranger }: Row): Promise<Sender> => {
    const [login, other] = [`user${++count}`, `other${count}`]
    await addUser(database, { login, admin: isAdmin }, OPERATOR)
    await addUser(database, { login: other, admin: false }, OPERATOR)
    await run(database, 'UPDATE users SET password = ? WHERE login = ?', password, login)
    const user = await requireUser(database, login)
    if (!isAdmin) await addOwners(test.registry, await crateOf(test, 'demo'), [login], OPERATOR)
    await inviteOwners(test.registry, await crateOf(test, 'other'), [login], OPERATOR)
    await loggedIn(test, login)
    const newest = 'SELECT id FROM sessions ORDER BY id DESC'
    const { id: sessionId } = await one<DbRow<'sessions'>>(database, newest)
    const order = { userId: user.id, name: 'one', scopes: SCOPES, crates: null, expires: null }
    // A crate may have 20.
    for (const table of ['trust_keys', 'trust_rules']) await run(database, `DELETE FROM ${table}`)
    const ruleIds: Record<string, number> = {}
    for (const [issuer, claim] of [
      ['github', 'repository'],
      ['gitlab', 'project_path'],
    ] as const) {
      const claims = [[claim, ['acme/demo']] as const]
      const ruleOrder = { crate: 'demo', issuer, claims, owner: null }
      ruleIds[issuer] = (await addRule(test.registry, ruleOrder, OPERATOR)).rule.id
    }
    const { id: tokenId, token } = await createToken(database, order, OPERATOR)
    const visitor = isStranger ? new Visitor(test) : await loggedIn(test, login)
    return { user, visitor, token, tokenId, sessionId, ruleIds, other }
  }
  return { test, sender }
}

/** Everything that a refused request must not have changed. */
async function records(test: TestRegistry): Promise<unknown> {
  const { database } = test.registry
  const tables = [
    'users',
    'password_links',
    'owners',
    'invitations',
    'upstream_allowed',
    'trust_rules',
    'trust_only',
  ]
  return Promise.all([
    ...tables.map(table => all(database, `SELECT * FROM ${table} ORDER BY 1, 2`)),
    // A request notes the use of its token or session.
    all(database, 'SELECT id, revoked_at FROM tokens ORDER BY id'),
    all(database, 'SELECT id FROM sessions ORDER BY id'),
    all(database, 'SELECT id, yanked FROM releases ORDER BY id'),
    all(database, `SELECT id FROM audit WHERE action NOT IN ${LIST} ORDER BY id`, [
      'login-failed',
      'password-wrong',
    ]),
    listAlarms(alarmPlace(test)),
  ])
}

/** A body in two halves, between which something happens. */
function halves(bytes: Uint8Array, meanwhile: () => Promise<void>): RequestInit {
  const half = bytes.length >> 1
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        controller.enqueue(bytes.subarray(0, half))
        await meanwhile()
        controller.enqueue(bytes.subarray(half))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const init: RequestInit & { duplex: 'half' } = { body, duplex: 'half' }
  return init
}

const nothing = async () => undefined

/** Sends what a row says; the two moments are when something may happen. */
async function send(
  test: TestRegistry,
  route: string,
  row: Row,
  sender: Sender,
  moments: readonly [() => Promise<void>, () => Promise<void>],
): Promise<{ status: number; text: string }> {
  const [method = '', pattern = ''] = route.split(' ')
  const path = row.path?.(sender) ?? pattern.replace(':name', 'demo').replace(':version', '1.0.0')
  const { visitor, token } = sender
  const isForm = path.startsWith('/me/')
  const fields = (await row.body?.(sender, test)) ?? (isForm ? {} : null)
  const bytes =
    fields === null || fields instanceof Uint8Array
      ? fields
      : Buffer.from(String(form({ csrf: await visitor.proof(), ...fields })))
  const init = { method, ...(bytes && halves(bytes, moments[0])) }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await request.run(moments[1], () =>
    isForm
      ? visitor.send(path, { ...init, headers })
      : test.request(method, path, token, {
          ...init,
          headers: { 'content-type': 'application/json' },
        }),
  )
  return { status: answer.status, text: await answer.text() }
}

test('every change is refused to whoever loses the right to it while the request is on its way', async t => {
  const { test, sender } = await prepared(t)
  const declared = routes(test)
    .filter(({ method, path, access }) =>
      path.startsWith('/me') ? method === 'POST' : Array.isArray(access) && method !== 'GET',
    )
    .map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(Object.keys(ROWS).sort(), declared.sort(), 'each route has its rows')
  const changes = Object.entries(ROWS).flatMap(([route, rows]) => rows.map(row => ({ route, row })))
  for (const { route, row } of changes) {
    for (const [loss, texts] of Object.entries(row.refusals)) {
      for (const [at, text] of texts.entries()) {
        // What has no body is not on its way for long.
        if (at === 0 && !route.includes('/me/') && !row.body) continue
        const who = await sender(row)
        let before: unknown
        const lose = async () => {
          if (before !== undefined) return
          await request.exit(() => LOSSES[loss as keyof typeof LOSSES](test, who))
          before = await records(test)
        }
        const moments = at === 0 ? ([lose, nothing] as const) : ([nothing, lose] as const)
        const answer = await send(test, route, row, who, moments)
        const what = `${route}: ${loss}, moment ${at}`
        assert.equal(answer.status, 403, `${what}: ${answer.text}`)
        assert.ok(answer.text.includes(text), `${what}: ${answer.text}`)
        assert.deepEqual(await records(test), before ?? assert.fail(what), what)
      }
    }
    const { status, text } = await send(test, route, row, await sender(row), [nothing, nothing])
    assert.ok([200, 204, 303].includes(status), `${route} is good otherwise: ${status} ${text}`)
  }
})

test('a token that expires while its request arrives is good for nothing', async t => {
  const test = await TestRegistry.open(t)
  const { database } = test.registry
  const token = await test.user('alice', { expires: '2026-11-20T12:00:30Z' })
  assert.equal((await test.publish(token, { name: 'demo', version: '1.0.0' })).status, 200)
  const bytes = publishRequest({ name: 'demo', version: '1.0.1' })
  const init = halves(bytes, async () => {
    test.now = new Date('2026-11-20T12:00:30Z')
  })
  const answer = await test.request('PUT', '/api/v1/crates/new', token, init)
  const detail =
    'the token was revoked or its user was locked while the request arrived; nothing was changed'
  assert.deepEqual([answer.status, await answer.json()], [403, { errors: [{ detail }] }])
  // Nothing is left of the bytes, either.
  const { cksum } = await one<DbRow<'releases'>>(database, 'SELECT cksum FROM releases')
  for await (const key of test.registry.crates.list()) assert.ok(key.includes(cksum), key)
})

test('a token for new crates adds no version to a crate that came while its request arrived', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice', { scopes: ['publish-new'] })
  const other = await test.user('bob')
  const init = halves(publishRequest({ name: 'race', version: '1.0.0' }), async () => {
    const answer = await test.publish(other, { name: 'race', version: '0.9.0' })
    assert.equal(answer.status, 200)
    // Alice owns it too, so that only the scope of her token is in the way.
    const body = JSON.stringify({ users: ['alice'] })
    await test.request('PUT', '/api/v1/crates/race/owners', other, { body })
  })
  const answer = await test.request('PUT', '/api/v1/crates/new', token, init)
  assert.deepEqual(await answer.json(), {
    errors: [{ detail: 'this token may not do that: it lacks the scope `publish-update`' }],
  })
})
