// Mirrors daemon/web/oidc.ts
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { all } from '../../../generator/database/statement.ts'
import { comeBack, logInAt, OidcIssuer, sendTo } from '../../support/oidc-issuer.ts'
import { said } from '../../support/oidc-registry.ts'
import { TestRegistry } from '../../support/registry.ts'
import { Visitor } from '../../support/visitor.ts'

const ADA = { sub: 'e-1007', preferred_username: 'ada@acme.test', name: 'Ada L.' }

async function prepared(t: TestContext, more: Record<string, string> = {}, env = {}) {
  const issuer = await OidcIssuer.start(t)
  const test = await TestRegistry.open(t, { env: { ...issuer.settings('company', more), ...env } })
  const users = () =>
    all(test.registry.database, 'SELECT login, name, admin FROM users ORDER BY id')
  return { issuer, test, users }
}

test('a first login makes an account, the next one finds it by its subject', async t => {
  const { issuer, test, users } = await prepared(t)
  const visitor = new Visitor(test)
  const location = new URL(await sendTo(visitor, 'company', '?next=/crates/'))
  const asked = Object.fromEntries(location.searchParams)
  assert.equal(asked.redirect_uri, 'http://crates.test/me/oidc/company/callback')
  assert.equal(asked.scope, 'openid profile')
  assert.equal(asked.code_challenge_method, 'S256')
  const back = await comeBack(visitor, issuer.grant(location.href, ADA))
  assert.deepEqual([back.status, back.headers.get('location')], [303, '/crates/'])
  assert.match(await (await visitor.get('/me')).text(), /<h1>ada<\/h1>/)
  const renamed = { ...ADA, preferred_username: 'somebody', name: 'Ada Lovelace' }
  const { answer } = await logInAt(test, issuer, renamed)
  assert.equal(answer.headers.get('location'), '/me')
  assert.deepEqual(await users(), [{ login: 'ada', name: 'Ada Lovelace', admin: 0 }])
  // The other subject is somebody else, whatever the claims say.
  await logInAt(test, issuer, { ...ADA, sub: 'e-1008' })
  assert.deepEqual((await users()).length, 2)
  assert.equal(issuer.asked.filter(({ path }) => path === '/token').length, 3)
})

/** What an issuer, or who stands between, can send, and what the browser is told then. */
const TOKENS: Readonly<
  Record<string, [sign: (issuer: OidcIssuer, claims: JWTPayload) => Promise<string>, told: RegExp]>
> = {
  'the nonce of another login': [
    (issuer, claims) => issuer.signed({ ...claims, nonce: 'other' }),
    /cannot be trusted.*nonce/,
  ],
  'the token of another client': [
    (issuer, claims) => issuer.signed({ ...claims, aud: 'grafana' }),
    /cannot be trusted.*aud/,
  ],
  'a token for two, of another client': [
    (issuer, claims) => issuer.signed({ ...claims, aud: ['plimsoll', 'grafana'], azp: 'grafana' }),
    /cannot be trusted.*azp/,
  ],
  'a token that another client has asked for': [
    (issuer, claims) => issuer.signed({ ...claims, azp: 'grafana' }),
    /cannot be trusted.*another client \(azp\)/,
  ],
  'a foreign key': [
    async (issuer, claims) => {
      const { privateKey } = await generateKeyPair('ES256')
      return issuer.signed(claims, {}, privateKey)
    },
    /cannot be trusted.*signature verification failed/,
  ],
  'an unknown key': [
    (issuer, claims) => issuer.signed(claims, { kid: 'two' }),
    /cannot be trusted/,
  ],
  'a junk signature': [
    async (issuer, claims) => `${(await issuer.signed(claims)).replace(/[^.]+$/, 'AAAA')}`,
    /cannot be trusted.*signature/,
  ],
  'no signature': [
    async (issuer, claims) => {
      const [, payload] = (await issuer.signed(claims)).split('.')
      const header = Buffer.from('{"alg":"none"}').toString('base64url')
      return `${header}.${payload}.`
    },
    /cannot be trusted.*alg/,
  ],
  HS256: [
    (issuer, claims) => {
      const at = Math.floor(Date.now() / 1000)
      return new SignJWT({ iss: issuer.url, aud: 'plimsoll', iat: at, exp: at + 300, ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from('a secret: with %, + and /, long enough'))
    },
    /cannot be trusted.*alg/,
  ],
  'a token from the future': [
    (issuer, claims) => issuer.signed({ ...claims, iat: Math.floor(Date.now() / 1000) + 3600 }),
    /cannot be trusted.*from the future/,
  ],
  'a token of yesterday': [
    (issuer, claims) => issuer.signed({ ...claims, exp: Math.floor(Date.now() / 1000) - 3600 }),
    /cannot be trusted.*exp/,
  ],
  'a token of another issuer': [
    (issuer, claims) => issuer.signed({ ...claims, iss: `${issuer.url}/` }),
    /cannot be trusted.*iss/,
  ],
  'no subject': [
    (issuer, claims) => issuer.signed({ ...claims, sub: '' }),
    /cannot be trusted|no claim/,
  ],
}

test('nobody is logged in by a token that cannot be trusted', async t => {
  const { issuer, test, users } = await prepared(t)
  for (const [what, [sign, told]] of Object.entries(TOKENS)) {
    issuer.sign = claims => sign(issuer, claims)
    const { visitor, answer } = await logInAt(test, issuer, ADA)
    assert.match(await said(answer), told, what)
    assert.deepEqual([visitor.cookies.has('plimsoll_session'), await users()], [false, []], what)
  }
})

type Break = (issuer: OidcIssuer) => void
const endless = (_: unknown, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const more = () => {
    while (response.write(' '.repeat(65_536)));
    response.once('drain', more)
  }
  more()
}
const html = (_: unknown, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')
const elsewhere = (_: unknown, response: ServerResponse) =>
  void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()

/** Broken answers of an issuer, by whether they come before or after the login there. */
const ANSWERS: Readonly<Record<string, [isBefore: boolean, work: Break, told: RegExp]>> = {
  'a discovery of another issuer': [
    true,
    issuer => {
      issuer.discovery = { issuer: 'https://login.example.com' }
    },
    /cannot be trusted/,
  ],
  'an issuer that differs in a slash': [
    true,
    issuer => {
      issuer.discovery = { issuer: `${issuer.url}/` }
    },
    /cannot be trusted/,
  ],
  'a discovery in HTML': [
    true,
    issuer => issuer.answers.set('/.well-known/openid-configuration', html),
    /cannot be trusted/,
  ],
  'a discovery elsewhere': [
    true,
    issuer => issuer.answers.set('/.well-known/openid-configuration', elsewhere),
    /cannot be trusted/,
  ],
  'an endless discovery': [
    true,
    issuer => issuer.answers.set('/.well-known/openid-configuration', endless),
    /cannot be asked right now: it is larger than the limit of 262144 bytes/,
  ],
  'an endless token': [false, issuer => issuer.answers.set('/token', endless), /larger than the/],
  'a token in HTML': [false, issuer => issuer.answers.set('/token', html), /cannot be trusted/],
  'a token elsewhere': [false, issuer => issuer.answers.set('/token', elsewhere), /cannot be/],
  'keys in HTML': [false, issuer => issuer.answers.set('/keys', html), /cannot be trusted/],
  'endless keys': [false, issuer => issuer.answers.set('/keys', endless), /larger than the/],
  'an endless userinfo': [
    false,
    issuer => issuer.answers.set('/userinfo', endless),
    /larger than the/,
  ],
  'the userinfo of somebody else': [
    false,
    issuer => {
      issuer.userinfo = { sub: 'e-9', preferred_username: 'eve' }
    },
    /cannot be trusted.*sub/,
  ],
  'a userinfo that fails': [
    false,
    issuer => issuer.answers.set('/userinfo', (_, response) => void response.writeHead(500).end()),
    /cannot be trusted/,
  ],
}

test('nobody is logged in by an issuer that is broken', async t => {
  for (const [what, [isBefore, work, told]] of Object.entries(ANSWERS))
    await t.test(what, async t => {
      const { issuer, test, users } = await prepared(t)
      issuer.userinfo = { sub: ADA.sub }
      if (isBefore) work(issuer)
      const visitor = new Visitor(test)
      const start = await visitor.get('/me/oidc/company')
      if (isBefore) {
        assert.match(await said(start), told)
        return
      }
      const query = issuer.grant(start.headers.get('location') ?? '', ADA)
      work(issuer)
      assert.match(await said(await comeBack(visitor, query)), told)
      assert.deepEqual(await users(), [])
    })
})

test('only the browser that began a login ends it, once', async t => {
  const { issuer, test } = await prepared(t)
  const [victim, attacker] = [new Visitor(test), new Visitor(test)]
  const query = issuer.grant(await sendTo(attacker), ADA)
  const lost = /begun in another browser/
  // Login CSRF: a browser that has begun nothing, or another login.
  assert.match(await said(await comeBack(victim, query)), lost)
  await sendTo(victim)
  assert.match(await said(await comeBack(victim, query)), lost)
  // What it has begun goes on, also where an older tab comes back before.
  const [older, newer] = [issuer.grant(await sendTo(victim), ADA), await sendTo(victim)]
  for (const stray of [query, older]) assert.match(await said(await comeBack(victim, stray)), lost)
  assert.equal((await comeBack(victim, issuer.grant(newer, ADA))).status, 303)
  // It can be used by whom it was made for, and then no more.
  const mine = issuer.grant(await sendTo(attacker), ADA)
  assert.equal((await comeBack(attacker, mine)).status, 303)
  assert.match(await said(await comeBack(attacker, mine)), lost)
  const state = new URL(await sendTo(attacker)).searchParams.get('state') ?? ''
  const replayed = new URLSearchParams({ code: mine.get('code') ?? '', state })
  assert.match(await said(await comeBack(attacker, replayed)), /did not let you in: invalid_grant/)
  // Another site cannot begin one.
  const begun = await victim.get('/me/oidc/company', { 'sec-fetch-site': 'cross-site' })
  assert.equal(begun.headers.get('location'), '/me')
})

test('the answer of the issuer is checked by RFC 9207 where it says so', async t => {
  const { issuer, test } = await prepared(t)
  issuer.discovery = { authorization_response_iss_parameter_supported: true }
  const visitor = new Visitor(test)
  for (const iss of [null, 'https://login.example.com']) {
    const query = issuer.grant(await sendTo(visitor), ADA)
    if (iss) query.set('iss', iss)
    assert.match(await said(await comeBack(visitor, query)), /cannot be trusted.*iss/)
  }
  const query = issuer.grant(await sendTo(visitor), ADA)
  query.set('iss', issuer.url)
  assert.equal((await comeBack(visitor, query)).status, 303)
})

test('after the login comes only a page of this registry', async t => {
  const { issuer, test } = await prepared(t)
  for (const next of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
  ]) {
    const visitor = new Visitor(test)
    const location = await sendTo(visitor, 'company', `?next=${encodeURIComponent(next)}`)
    const back = await comeBack(visitor, issuer.grant(location, ADA))
    assert.equal(back.headers.get('location'), '/me', next)
  }
})
