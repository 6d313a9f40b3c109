import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '../../../generator/accounts/tokens.ts'
import { makeToken } from '../../../generator/accounts/tokens.ts'
import { frugallyInTheEnd } from '../../support/processor-time.ts'
import { TOKENS, trusting } from '../../support/trusted.ts'
import { JOBS } from '../../support/trusted-jobs.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

test('the exchange answers as crates.io does, whatever the status of other failures is', async t => {
  const { issuer, test, rule } = await trusting(t, { PLIMSOLL_API_ERROR_STATUS: 'cargo' })
  await rule()
  const post = (body: string, headers: Record<string, string> = JSON_TYPE) =>
    test.request('POST', TOKENS, null, { headers, body })
  const jwt = await issuer.sign(JOBS.github)
  const rows: [string, Response, number, RegExp][] = [
    [
      'no type',
      await post('{}', {}),
      415,
      /^Expected request with `Content-Type: application\/json`$/,
    ],
    [
      'a form',
      await post('jwt=x', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      /^Expected request/,
    ],
    ['no JSON', await post('{'), 400, /^the body cannot be read: /],
    ['another shape', await post('{"token":"x"}'), 422, /^the JSON has another shape: jwt: /],
    ['an array', await post('[]'), 422, /^the JSON has another shape: /],
    ['a number', await post('{"jwt":1}'), 422, /^the JSON has another shape: jwt: /],
    [
      'a long body',
      await post(JSON.stringify({ jwt: 'x'.repeat(100_000) })),
      400,
      /more than 65536 bytes$/,
    ],
    ['no token', await post('{"jwt":"x"}'), 400, /^Failed to decode JWT: /],
    [
      'no rule',
      await post(
        JSON.stringify({
          jwt: await issuer.sign({
            ...JOBS.github,
            repository: 'x/y',
            workflow_ref: 'x/y/.github/workflows/a.yml@b',
          }),
        }),
      ),
      400,
      /^No Trusted Publishing config found for repository `x\/y`\.$/,
    ],
  ]
  for (const [what, response, status, detail] of rows) {
    const { errors, ...rest } = JSON.parse(await response.text())
    assert.deepEqual([response.status, rest, errors.length], [status, {}, 1], what)
    assert.match(errors[0].detail, detail, what)
  }
  const given = await post(JSON.stringify({ jwt }), {
    'content-type': 'application/json; charset=utf-8',
  })
  assert.equal(given.headers.get('cache-control'), 'no-store')
  const { token, ...rest } = JSON.parse(await given.text())
  assert.deepEqual([given.status, rest], [200, {}])
  const revoke = async (authorization: string | null) => {
    const response = await test.request('DELETE', TOKENS, authorization)
    const text = await response.text()
    return [response.status, text === '' ? null : JSON.parse(text).errors[0].detail]
  }
  const header = 'Invalid `Authorization` header: '
  assert.deepEqual(await revoke(null), [401, 'Missing `Authorization` header'])
  assert.deepEqual(await revoke(`Basic ${token}`), [
    401,
    `${header}Found unexpected authentication scheme \`Basic\``,
  ])
  assert.deepEqual(await revoke('Bearer x'), [401, `${header}Failed to parse token`])
  assert.deepEqual(await revoke(makeToken()), [401, `${header}Failed to parse token`])
  assert.deepEqual(await revoke('Bearer \u00fc'), [
    401,
    `${header}Found unexpected non-ASCII characters`,
  ])
  for (const good of [`bearer ${token}`, token, `Bearer ${makeToken('plim_tp_')}`])
    assert.deepEqual(await revoke(good), [204, null])
  const wide = `a${' '.repeat(15_000)}b c`
  const often = async () => {
    for (let count = 0; count < 20; count++) assert.equal((await revoke(wide))[0], 401)
  }
  await frugallyInTheEnd(often, 'a header of blanks', 600)
})

test('exchanges are limited by address, and a registry without an API has none', async t => {
  const { exchange } = await trusting(t, { PLIMSOLL_LIMITS_EXCHANGES_PER_MINUTE: '2' })
  for (const status of [400, 400, 429]) assert.equal((await exchange('x')).status, status)
  const { exchange: off } = await trusting(t, { PLIMSOLL_REGISTRY_API: 'none' })
  assert.equal((await off('x')).status, 403)
})

test('the rules of crates that are there are read and written in the shapes of crates.io', async t => {
  const { test, rule, job, publish } = await trusting(t, { PLIMSOLL_ISSUER_GITLAB_SHARED: 'auto' })
  const { database } = test.registry
  assert.ok(database)
  const scopes: Scope[] = ['trusted-publishing', 'publish-new', 'publish-update']
  const bob = await test.user('bob', { scopes })
  const carol = await test.user('carol', { scopes })
  await test.publish(bob, { name: 'demo', version: '1.0.0' })
  const base = '/api/v1/trusted_publishing'
  const ask = async (method: string, path: string, body?: object, token = bob) => {
    const response = await test.request(method, path, token, {
      headers: body ? JSON_TYPE : {},
      body: body ? JSON.stringify(body) : null,
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  const order = {
    ...{ crate: 'Demo', repository_owner: 'acme', repository_name: 'demo' },
    ...{ workflow_filename: 'release.yml', environment: null },
  }
  const posted = await ask('POST', `${base}/github_configs`, { github_config: order })
  const config = {
    ...order,
    id: 1,
    crate: 'demo',
    repository_owner_id: null,
    created_at: '2026-11-20T12:00:00Z',
  }
  assert.deepEqual([posted.status, posted.body], [200, { github_config: config }])
  const { token } = await job()
  assert.deepEqual(await publish(token, 'demo', '1.0.1'), [200, null])
  const used = { ...config, repository_owner_id: 123 }
  const meta = { total: 1, next_page: null }
  const listed = await ask('GET', `${base}/github_configs?crate=demo`)
  assert.deepEqual(listed.body, { github_configs: [used], meta })
  assert.deepEqual((await ask('GET', `${base}/github_configs?user_id=2`)).body, listed.body)
  assert.deepEqual((await ask('GET', `${base}/gitlab_configs?crate=demo`)).body, {
    gitlab_configs: [],
    meta: { total: 0, next_page: null },
  })
  const gitlab = {
    crate: 'demo',
    namespace: 'acme/tools',
    project: 'demo',
    workflow_filepath: '.gitlab-ci.yml',
    environment: 'release',
  }
  const written = await ask('POST', `${base}/gitlab_configs`, { gitlab_config: gitlab })
  assert.deepEqual(written.body, {
    gitlab_config: { ...gitlab, id: 2, namespace_id: null, created_at: '2026-11-20T12:00:00Z' },
  })
  for (const path of ['', '?crate=demo&user_id=2'])
    assert.equal((await ask('GET', `${base}/github_configs${path}`)).status, 400, path)
  const own = 'You are not an owner of this crate'
  for (const [method, path, body] of [
    ['POST', `${base}/github_configs`, { github_config: order }],
    ['GET', `${base}/github_configs?crate=demo`, undefined],
    ['GET', `${base}/github_configs?user_id=2`, undefined],
    ['DELETE', `${base}/github_configs/1`, undefined],
    ['PATCH', '/api/v1/crates/demo', { crate: { trustpub_only: true } }],
  ] as const) {
    const { status, body: said } = await ask(method, path, body, carol)
    assert.deepEqual([status, said], [400, { errors: [{ detail: own }] }], path)
  }
  for (const bad of [
    { repository_owner: '-x' },
    { repository_name: 'a/b' },
    { workflow_filename: 'a/b.yml' },
    { workflow_filename: 'a.sh' },
    { environment: ' a' },
    { environment: 'a,b' },
    { repository_owner: 'x'.repeat(256) },
  ])
    assert.equal(
      (await ask('POST', `${base}/github_configs`, { github_config: { ...order, ...bad } })).status,
      422,
      JSON.stringify(bad),
    )
  assert.equal((await ask('DELETE', `${base}/gitlab_configs/1`)).status, 404)
  assert.equal((await ask('DELETE', `${base}/github_configs/1`)).status, 204)
  assert.equal((await ask('DELETE', `${base}/github_configs/1`)).status, 404)
  const patched = await ask('PATCH', '/api/v1/crates/demo', { crate: { trustpub_only: true } })
  assert.deepEqual([patched.status, patched.body.crate.trustpub_only], [200, true])
  assert.equal((await test.publish(bob, { name: 'demo', version: '1.0.2' })).status, 403)
  for (let count = 1; count < 20; count++)
    await rule({ owner: null, claims: [`repository=acme/x${count}`] })
  const { status, body } = await ask('POST', `${base}/github_configs`, { github_config: order })
  const many =
    'This crate already has the maximum number of GitHub Trusted Publishing configurations (20)'
  assert.deepEqual([status, body.errors[0].detail], [409, many])
  const page = await ask('GET', `${base}/github_configs?crate=demo&per_page=5`)
  assert.equal(page.body.github_configs.length, 5)
  const next = await ask('GET', `${base}/github_configs${page.body.meta.next_page}`)
  assert.deepEqual([next.body.github_configs[0].id, next.body.meta.total], [8, 19])
})

test('Cargo tells who removes an owner of the rules that they wrote', async t => {
  const { test, alice } = await trusting(t)
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
  const scopes: Scope[] = ['trusted-publishing']
  const bob = await test.user('bob', { scopes })
  const body = JSON.stringify({ users: ['bob'] })
  await test.request('PUT', '/api/v1/crates/demo/owners', alice, { body })
  const config = {
    crate: 'demo',
    repository_owner: 'acme',
    repository_name: 'demo',
    workflow_filename: 'a.yml',
  }
  const posted = await test.request('POST', '/api/v1/trusted_publishing/github_configs', bob, {
    headers: JSON_TYPE,
    body: JSON.stringify({ github_config: config }),
  })
  assert.equal(posted.status, 200)
  const removed = await test.request('DELETE', '/api/v1/crates/demo/owners', alice, { body })
  assert.equal(
    JSON.parse(await removed.text()).msg,
    'removed bob from the owners of `demo`; rules by which jobs publish it stay: rule 1 (github: repository=acme/demo workflow=a.yml)',
  )
})
