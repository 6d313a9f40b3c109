import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { Refusal } from '../../../core/error/error.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import { TrustedIssuers } from '../../../generator/trust/verify.ts'
import { MadeUpIssuer } from '../../support/made-up-issuer.ts'
import { JOBS } from '../../support/trusted-jobs.ts'
import { folderOf } from '../../support/workplace.ts'

const HOUR = 3600

/** Issuers of a registry at `http://crates.test`, with that one as `github`. */
async function prepared(t: TestContext, env: Record<string, string> = {}, alg = 'RS256') {
  const issuer = await MadeUpIssuer.start(t, alg)
  const { settings } = resolveSettings({ env: { ...issuer.settings('github', 'github'), ...env } })
  const urls = registryUrls(settings.registry, 'http://crates.test')
  const clock = () => issuer.now
  const issuers = new TrustedIssuers({ settings, urls, clock, env: {} })
  const seconds = issuer.now.getTime() / 1000
  const said = async (jwt: string | Promise<string>): Promise<string> => {
    try {
      await issuers.verify(await jwt)
      return 'good'
    } catch (error) {
      if (error instanceof Refusal) return error.message
      throw error
    }
  }
  const signed = (more: Readonly<Record<string, unknown>>, header: object = {}) =>
    issuer.sign({ ...JOBS.github, ...more }, { ...header })
  return { issuer, issuers, said, signed, seconds }
}

test('tokens of three algorithms are good, and their claims are those that were signed', async t => {
  for (const alg of ['RS256', 'ES256', 'EdDSA']) {
    const { issuers, signed, seconds } = await prepared(t, {}, alg)
    const { claims, issuer, ends } = await issuers.verify(await signed({}))
    assert.deepEqual([claims.repository, issuer.name], ['acme/demo', 'github'], alg)
    assert.equal(ends, (seconds + 300 + 60) * 1000)
  }
})

test('a forged token is refused, with the sentence that the operator needs', async t => {
  const { issuer, said, signed, seconds } = await prepared(t)
  const stranger = await MadeUpIssuer.start(t)
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: issuer.url, aud: 'crates.test', iat: seconds, exp: seconds + 300 }
  const input = `${encoded({ alg: 'HS256', kid: 'first' })}.${encoded(claims)}`
  const spki = await exportSPKI(issuer.keys.publicKey as never)
  const hmac = createHmac('sha256', spki).update(input).digest('base64url')
  const good = await signed({})
  const [head = '', body = '', end = ''] = good.split('.')
  const foreign = new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: 'first' })
    .sign((await generateKeyPair('RS256')).privateKey)
  const now = '2026-11-20T12:00:00Z'
  const wants = 'and this registry wants crates.test alone'
  const rows: [string, string | Promise<string>, string][] = [
    ['no token', 'abc', 'Failed to decode JWT: it is not a JWT with claims'],
    ['no claims', 'a.W10.c', 'Failed to decode JWT: it is not a JWT with claims'],
    ['no header', `x.${body}.${end}`, 'Failed to decode JWT: it is not a JWT with a header'],
    [
      'alg none',
      `${encoded({ alg: 'none', kid: 'first' })}.${encoded(claims)}.`,
      'Failed to decode JWT: its `alg` is none, not RS256, ES256, EdDSA',
    ],
    [
      'HS256 with the public key',
      `${input}.${hmac}`,
      'Failed to decode JWT: its `alg` is HS256, not RS256, ES256, EdDSA',
    ],
    [
      'a foreign key',
      foreign,
      `Failed to decode JWT: signature verification failed by the key first of ${issuer.url}`,
    ],
    [
      'another payload',
      `${head}.${encoded({ ...claims, repository: 'x/y' })}.${end}`,
      `Failed to decode JWT: signature verification failed by the key first of ${issuer.url}`,
    ],
    ['no kid', signed({}, { kid: undefined }), 'Missing JWT key ID'],
    ['an unknown kid', signed({}, { kid: 'second' }), 'Invalid JWT key ID'],
    ['an unknown issuer', stranger.sign({}), `Unsupported JWT issuer: ${stranger.url}`],
    [
      'an issuer with a slash more',
      signed({ iss: `${issuer.url}/` }),
      `Unsupported JWT issuer: ${issuer.url}/`,
    ],
    ['no issuer', signed({ iss: undefined }), 'Unsupported JWT issuer: '],
    [
      'another registry',
      signed({ aud: 'other.test' }),
      `Failed to decode JWT: its \`aud\` is other.test, ${wants}`,
    ],
    [
      'two registries',
      signed({ aud: ['crates.test', 'other.test'] }),
      `Failed to decode JWT: its \`aud\` is crates.test, other.test, ${wants}`,
    ],
    [
      'no registry',
      signed({ aud: undefined }),
      `Failed to decode JWT: its \`aud\` is absent, ${wants}`,
    ],
    ['an array of none', signed({ aud: [] }), `Failed to decode JWT: its \`aud\` is , ${wants}`],
    [
      'expired',
      signed({ exp: seconds - 60 }),
      `Failed to decode JWT: its \`exp\` is 2026-11-20T11:59:00Z, and it is ${now} here`,
    ],
    [
      'no end',
      signed({ exp: undefined }),
      `Failed to decode JWT: its \`exp\` is absent, and it is ${now} here`,
    ],
    [
      'not before later',
      signed({ nbf: seconds + 61 }),
      `Failed to decode JWT: its \`nbf\` is 2026-11-20T12:01:01Z, and it is ${now} here`,
    ],
    [
      'from the future',
      signed({ iat: seconds + 61 }),
      `Failed to decode JWT: its \`iat\` is 2026-11-20T12:01:01Z, and it is ${now} here`,
    ],
    [
      'no beginning',
      signed({ iat: undefined }),
      `Failed to decode JWT: its \`iat\` is absent, and it is ${now} here`,
    ],
    [
      'ten years long',
      signed({ exp: seconds + 10 * 365 * 24 * HOUR }),
      'Failed to decode JWT: its `exp` is 2036-11-17T12:00:00Z, more than 24 hours after its `iat`',
    ],
    [
      'times that are texts',
      signed({ exp: '9' as never }),
      `Failed to decode JWT: its \`exp\` is 9, and it is ${now} here`,
    ],
    [
      'an array in an array',
      signed({ aud: [['crates.test']] }),
      `Failed to decode JWT: its \`aud\` is crates.test, ${wants}`,
    ],
    [
      'an extension',
      signed({}, { b64: true, crit: ['b64'] }),
      'Failed to decode JWT: its header has `crit`, and no extension is known here',
    ],
    ['the leeway', signed({ exp: seconds - 59, nbf: seconds + 60, iat: seconds + 60 }), 'good'],
    ['an array of one', signed({ aud: ['crates.test'] }), 'good'],
    ['a day', signed({ exp: seconds + 24 * HOUR }), 'good'],
  ]
  for (const [what, jwt, text] of rows) assert.equal(await said(jwt), text, what)
})

test('keys that cannot be used are named with the reason, within bounds, and do not come again at once', async t => {
  const endless = (_: unknown, response: import('node:http').ServerResponse) => {
    const more = () => {
      while (response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  }
  const keys = (count: number) => ({
    keys: Array.from({ length: count }, (_, at) => ({ kid: `${at}` })),
  })
  const rows: [string, RegExp, import('node:http').RequestListener][] = [
    [
      'HTML',
      /^Failed to load OIDC key set: \S+: it is no JSON$/,
      (_, response) => void response.end('<html>'),
    ],
    [
      'a redirect',
      /: HTTP status 302$/,
      (_, response) => void response.writeHead(302, { location: '/' }).end(),
    ],
    ['missing', /: HTTP status 404$/, (_, response) => void response.writeHead(404).end()],
    ['endless', /: it is larger than the limit of 65536 bytes$/, endless],
    [
      'another issuer',
      /: it is the issuer https:\/\/evil.test, not http/,
      (_, response) => void response.end('{"issuer":"https://evil.test"}'),
    ],
    [
      'no keys',
      /: it names no `jwks_uri`$/,
      ({ headers }, response) =>
        void response.end(JSON.stringify({ issuer: `http://${headers.host}` })),
    ],
    ['an array', /: it is the issuer undefined, not/, (_, response) => void response.end('null')],
    [
      'a private address',
      /: the address of 127\.0\.0\.2 is private \(127\.0\.0\.2\), and only hosts/,
      ({ headers }, response) =>
        void response.end(
          JSON.stringify({ issuer: `http://${headers.host}`, jwks_uri: 'http://127.0.0.2:9/' }),
        ),
    ],
    [
      'metadata',
      /: it is not encrypted: write an https URL$/,
      ({ headers }, response) =>
        void response.end(
          JSON.stringify({ issuer: `http://${headers.host}`, jwks_uri: 'http://169.254.169.254/' }),
        ),
    ],
    [
      'many keys',
      /: it has more than 100 keys$/,
      ({ url, headers }, response) =>
        void response.end(
          JSON.stringify(
            url === '/keys'
              ? keys(101)
              : { issuer: `http://${headers.host}`, jwks_uri: `http://${headers.host}/keys` },
          ),
        ),
    ],
  ]
  for (const [what, text, answer] of rows) {
    const { issuer, said, signed } = await prepared(t)
    issuer.answer = answer
    const before = process.memoryUsage().rss
    assert.match(await said(signed({})), text, what)
    assert.ok(process.memoryUsage().rss - before < 20 * 1024 ** 2, `${what} is bounded`)
    const asked = [...issuer.asked.values()].reduce((sum, count) => sum + count)
    assert.match(await said(signed({})), text, what)
    assert.equal(
      [...issuer.asked.values()].reduce((sum, count) => sum + count),
      asked,
      what,
    )
    issuer.answer = null
    issuer.now = new Date(issuer.now.getTime() + 10_000)
    assert.equal(await said(signed({})), 'good', `${what}, mended`)
  }
})

test('keys are fetched once for all, again for an unknown one, and kept for a day', async t => {
  const { issuer, said, signed } = await prepared(t)
  const later = (seconds: number) => {
    issuer.now = new Date(issuer.now.getTime() + seconds * 1000)
  }
  const many = Array.from({ length: 20 }, () => said(signed({})))
  assert.deepEqual(new Set(await Promise.all(many)), new Set(['good']))
  const asked = () => issuer.asked.get('/keys')
  assert.equal(asked(), 1)
  issuer.jwk.kid = 'second'
  // At most once a minute.
  assert.equal(await said(signed({}, { kid: 'second' })), 'Invalid JWT key ID')
  assert.equal(asked(), 1)
  later(60)
  assert.equal(await said(signed({}, { kid: 'second' })), 'good')
  assert.equal(await said(signed({}, { kid: 'third' })), 'Invalid JWT key ID')
  assert.equal(asked(), 2)
  // The issuer is away.
  issuer.answer = (_, response) => void response.destroy()
  later(23 * HOUR)
  assert.equal(await said(signed({}, { kid: 'second' })), 'good')
  later(HOUR + 1)
  assert.match(await said(signed({}, { kid: 'second' })), /^Failed to load OIDC key set: http/)
})

test('a clock that came back from the future keeps no key, and waits for none', async t => {
  const { issuer, said, signed } = await prepared(t)
  const right = issuer.now
  issuer.now = new Date(right.getTime() + 20 * 365 * 24 * HOUR)
  assert.equal(await said(signed({})), 'good')
  issuer.now = right
  issuer.jwk.kid = 'second'
  assert.equal(await said(signed({}, { kid: 'second' })), 'good')
  assert.equal(issuer.asked.get('/keys'), 2)
})

test('a token has one identity, however it is written', async t => {
  const { issuer, issuers, signed } = await prepared(t, {}, 'ES256')
  const identityOf = async (jwt: string | Promise<string>) =>
    (await issuers.verify(await jwt)).identity
  const claims = { ...JOBS.github, jti: undefined }
  // Each signature of ES256 is another one.
  const [one, two] = [await issuer.sign(claims), await issuer.sign(claims)]
  assert.notEqual(one, two)
  assert.equal(await identityOf(one), await identityOf(two))
  const bits = one.replace(/.$/, last => String.fromCharCode(last.charCodeAt(0) + 1))
  for (const other of [`${one}=`, `${one}==`, ` ${one}`, bits])
    assert.equal(await identityOf(other).catch(() => identityOf(one)), await identityOf(one))
  assert.notEqual(
    await identityOf(signed({ run_id: '1', jti: 'a' })),
    await identityOf(signed({ jti: 'b' })),
  )
  assert.equal(
    await identityOf(signed({ run_id: '1', jti: 'a' })),
    await identityOf(signed({ jti: 'a' })),
  )
})

test('keys may be in a file, or at an address of their own', async t => {
  const { issuer } = await prepared(t)
  const path = join(folderOf(t), 'keys.json')
  writeFileSync(path, JSON.stringify({ keys: [issuer.jwk] }))
  issuer.answer = (request, response) => {
    assert.equal(request.url, '/elsewhere')
    response.end(JSON.stringify({ keys: [issuer.jwk, { kty: 'RSA' }] }))
  }
  for (const [key, value] of [
    ['JWKS_FILE', path],
    ['JWKS_URI', `${issuer.url}/elsewhere`],
  ]) {
    const env = { ...issuer.settings('github', 'github'), [`PLIMSOLL_ISSUER_GITHUB_${key}`]: value }
    const { settings } = resolveSettings({ env })
    const urls = registryUrls(settings.registry, 'http://crates.test')
    const issuers = new TrustedIssuers({ settings, urls, clock: () => issuer.now, env: {} })
    assert.equal((await issuers.verify(await issuer.sign({}))).issuer.name, 'github', key)
  }
})
