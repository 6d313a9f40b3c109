import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { operations } from '../../../daemon/api/openapi.ts'
import { TestRegistry } from '../../support/registry.ts'

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
    .filter(route => route.method !== 'ALL' && route.path.startsWith('/api/'))
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
  const known = Object.keys(document.components.schemas).map(name => `#/components/schemas/${name}`)
  assert.deepEqual([...references].sort(), known.sort())
  assert.equal(text.includes('$defs'), false)
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { parameters } of Object.values(methods)) {
      const inPath = parameters
        .filter(parameter => parameter.in === 'path')
        .map(parameter => parameter.name)
      assert.deepEqual(
        inPath,
        [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]),
        path,
      )
    }
  }
})

test('who may take a route, and what it takes, is said', async t => {
  const { paths } = await read(await TestRegistry.open(t))
  assert.deepEqual(paths['/api/v1/crates']?.get?.security, [{}, { token: [] }])
  assert.deepEqual(paths['/api/v1/crates/new']?.put?.security, [{ token: [] }])
  assert.deepEqual(paths['/api/v1/crates/{name}/owners']?.get?.security, [{ token: [] }])
  assert.deepEqual(paths['/api/v1/crates']?.get?.parameters, [
    { name: 'q', in: 'query', required: false, schema: { type: 'string', default: '' } },
    ...['keyword', 'category', 'license', 'rust', 'owner', 'sort'].map(name => ({
      name,
      in: 'query',
      required: false,
      schema: { type: 'string' },
    })),
    {
      name: 'page',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 1_000_000 },
    },
    {
      name: 'per_page',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100 },
    },
  ])
})

test('real answers of every JSON operation are what the document says', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const bob = await registry.user('bob')
  const { body } = await registry.publish(token, { name: 'real', version: '1.0.0' })
  const checked = new Set<string>()
  const check = (key: string, answer: unknown) => {
    const content = operations[key]?.answer
    assert.ok(content && !('contentType' in content), key)
    assert.deepEqual(v.parse(content, answer), answer, key)
    checked.add(key)
  }
  check('PUT /api/v1/crates/new', body)
  const fill = (path: string) => path.replace('{name}', 'real').replace('{version}', '1.0.0')
  const json = async (method: string, path: string, init: RequestInit = {}) => {
    const response = await registry.request(method, fill(path), token, init)
    assert.equal(response.status, 200, `${method} ${path}`)
    return response.json()
  }
  for (const [key, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = key.split(' ')
    if (checked.has(key) || 'contentType' in operation.answer) continue
    const init = operation.body ? { body: '{"users":["bob"]}' } : {}
    if (key !== 'DELETE /api/v1/crates/{name}/owners') check(key, await json(method, path, init))
  }
  const removal = 'DELETE /api/v1/crates/{name}/owners'
  check(
    removal,
    await json('DELETE', '/api/v1/crates/{name}/owners', { body: '{"users":["bob"]}' }),
  )
  assert.notEqual(bob, token)
  const ofJson = Object.entries(operations).filter(
    ([, operation]) => !('contentType' in operation.answer),
  )
  assert.deepEqual([...checked].sort(), ofJson.map(([key]) => key).sort())
})
