import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { operations } from '../../../daemon/api/openapi.ts'
import { SCOPES } from '../../../generator/accounts/tokens.ts'
import { MadeUpIssuer } from '../../support/made-up-issuer.ts'
import { TestRegistry } from '../../support/registry.ts'
import { JOBS } from '../../support/trusted-jobs.ts'

interface Document {
  readonly openapi: string
  readonly servers: { readonly url: string }[]
  readonly paths: Record<
    string,
    Record<string, { readonly security: object[]; readonly parameters: Parameter[] }>
  >
  readonly components: { readonly schemas: Record<string, object> }
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: object
}

async function read(registry: TestRegistry): Promise<Document> {
  return (await (await registry.request('GET', '/api/openapi.json')).json()) as Document
}

test('every route below /api/ is in the document, and nothing else is', async t => {
  const registry = await TestRegistry.open(t)
  const routes = registry.app.routes
    .filter(({ path }) => path.startsWith('/api/') && !path.endsWith('/*'))
    .map(route => `${route.method} ${route.path.replace(/:(\w+)/g, '{$1}')}`)
  const { paths } = await read(registry)
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual([...new Set(routes)].sort(), described.sort())
  assert.deepEqual(described.sort(), Object.keys(operations).sort())
})

test('the document is OpenAPI 3.1 whose references lead somewhere', async t => {
  const registry = await TestRegistry.open(t)
  const document = await read(registry)
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.servers, [{ url: 'http://crates.test' }])
  const text = JSON.stringify(document)
  const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(match => match[1]))
  const declared = Object.keys(document.components.schemas).map(
    name => `#/components/schemas/${name}`,
  )
  assert.deepEqual([...references].sort(), declared.sort())
  assert.equal(text.includes('$defs'), false)
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { parameters } of Object.values(methods)) {
      const inPath = parameters.filter(parameter => parameter.in === 'path')
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1])
      const described = inPath.map(parameter => parameter.name)
      assert.deepEqual(described, names, path)
    }
  }
})

test('who may take a route, and what it takes, is said', async t => {
  const { paths } = await read(await TestRegistry.open(t))
  assert.deepEqual(paths['/api/v1/crates']?.get?.security, [{}, { token: [] }])
  assert.deepEqual(paths['/api/v1/crates/new']?.put?.security, [{ token: [] }])
  assert.deepEqual(paths['/api/v1/crates/{name}/owners']?.get?.security, [{ token: [] }])
  const [q, ...others] = paths['/api/v1/crates']?.get?.parameters ?? []
  const text = { name: 'q', in: 'query', required: false, schema: { type: 'string', default: '' } }
  assert.deepEqual(q, text)
  const number = { type: 'integer', minimum: 1, maximum: 100 }
  assert.deepEqual(others.at(-1), { ...text, name: 'per_page', schema: number })
})

test('real answers of every JSON operation are what the document says', async t => {
  const issuer = await MadeUpIssuer.start(t)
  const gitlab = { PLIMSOLL_ISSUER_GITLAB_SHARED: 'auto' }
  const env = { ...issuer.settings('github', 'github'), ...gitlab }
  const registry = await TestRegistry.open(t, { env })
  const token = await registry.user('alice', { scopes: SCOPES })
  await registry.user('bob')
  const { body } = await registry.publish(token, { name: 'real', version: '1.0.0' })
  const checked = new Set<string>()
  const check = (key: string, answer: unknown) => {
    const content = operations[key]?.answer
    assert.ok(content && !('contentType' in content), key)
    assert.deepEqual(v.parse(content, answer), answer, key)
    checked.add(key)
  }
  check('PUT /api/v1/crates/new', body)
  const rule = { crate: 'real', repository_owner: 'acme', repository_name: 'demo' }
  const project = { crate: 'real', namespace: 'acme', project: 'demo' }
  const jobs = '/api/v1/trusted_publishing'
  const bodies: Readonly<Record<string, object>> = {
    [`POST ${jobs}/github_configs`]: {
      github_config: { ...rule, workflow_filename: 'release.yml' },
    },
    [`POST ${jobs}/gitlab_configs`]: { gitlab_config: { ...project, workflow_filepath: 'a.yml' } },
    [`POST ${jobs}/tokens`]: { jwt: await issuer.sign(JOBS.github) },
    'PATCH /api/v1/crates/{name}': { crate: { trustpub_only: false } },
    'PATCH /api/v1/crates/{name}/{version}': { version: { yanked: true, yank_message: 'why' } },
    'PUT /api/v1/crates/{name}/deprecation': { reason: 'why', use: 'other' },
  }
  const json = async (key: string, init: RequestInit = {}) => {
    const [method = '', path = ''] = key.split(' ')
    const which = method === 'GET' && path.endsWith('_configs') ? '?crate=real' : ''
    const filled = path.replace('{name}', 'real').replace('{version}', '1.0.0') + which
    const headers = { 'content-type': 'application/json' }
    const response = await registry.request(method, filled, token, { ...init, headers })
    assert.equal(response.status, 200, key)
    return response.json()
  }
  // Who is removed has to be there, and a job needs a rule.
  const last = ['DELETE /api/v1/crates/{name}/owners', `POST ${jobs}/tokens`]
  const others = Object.keys(operations).filter(key => !last.includes(key))
  for (const key of [...others, ...last]) {
    const operation = operations[key]
    if (!operation || checked.has(key) || 'contentType' in operation.answer) continue
    check(
      key,
      await json(
        key,
        operation.body ? { body: JSON.stringify(bodies[key] ?? { users: ['bob'] }) } : {},
      ),
    )
  }
  const ofJson = Object.entries(operations).filter(
    ([, operation]) => !('contentType' in operation.answer),
  )
  assert.deepEqual([...checked].sort(), ofJson.map(([key]) => key).sort())
})
