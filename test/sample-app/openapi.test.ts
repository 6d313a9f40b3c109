import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examples } from '../../sample-app/examples.ts'
import { ask } from './support/serving.ts'

const P = 'paths /items/ get parameters 0'
const ITEM = 'paths /items/{item_id} get parameters 0'
const FIXED = { type: 'string', maxLength: 50, minLength: 3, pattern: '^fixedquery$' }

type Place = 'path' | 'query' | 'header' | 'cookie'
const required = (place: Place, name: string, schema: object) => {
  return { name, in: place, required: true, schema }
}
const optional = (place: Place, name: string, schema: object) => {
  return { ...required(place, name, schema), required: false }
}
const nullable = (title: string, schema: object) => ({ anyOf: [schema, { type: 'null' }], title })

/** The part of an example's description behind these keys; undefined without any. */
async function described(example: string, keys: string): Promise<unknown> {
  const { text } = await ask(example, '/openapi.json')
  return keys
    .split(' ')
    .reduce<unknown>(
      (value, key) => new Map(Object.entries(Object(value))).get(key),
      JSON.parse(text),
    )
}

const TABLE: readonly (readonly [example: string, keys: string, value: unknown])[] = [
  ['root', 'openapi', '3.1.0'],
  ['root', 'paths / get responses 200 content', { 'application/json': { schema: {} } }],
  ['uploads', 'paths / get responses 200 content', { 'text/html': { schema: { type: 'string' } } }],
  [
    'query-metadata',
    P,
    {
      ...optional('query', 'item-query', {
        ...nullable('Query string', FIXED),
        deprecated: true,
      }),
      deprecated: true,
    },
  ],
  [
    'query-default',
    P,
    optional('query', 'q', { type: 'string', minLength: 3, default: 'fixedquery', title: 'Q' }),
  ],
  ['query-validation', P, optional('query', 'q', nullable('Q', { type: 'string', maxLength: 50 }))],
  [
    'query-list',
    P,
    optional('query', 'q', nullable('Q', { type: 'array', items: { type: 'string' } })),
  ],
  ['query-params', `${P} schema`, { type: 'integer', default: 0, title: 'Skip' }],
  [
    'query-mixed',
    'paths /users/{user_id}/items/{item_id} get parameters 3 schema',
    { type: 'boolean', default: false, title: 'Short' },
  ],
  ['path-params', ITEM, required('path', 'item_id', { type: 'string', title: 'Item Id' })],
  [
    'path-validation',
    `${ITEM} schema`,
    { type: 'integer', exclusiveMinimum: 0, maximum: 1000, title: 'The ID of the item to get' },
  ],
  [
    'path-validation-float',
    `${ITEM} schema`,
    { type: 'number', minimum: 0.5, exclusiveMaximum: 10.5, title: 'Item Id' },
  ],
  [
    'path-validation-str',
    `${ITEM} schema`,
    { type: 'string', maxLength: 10, minLength: 2, pattern: '^[a-z]+$', title: 'Item Id' },
  ],
  ['path-converter', 'paths /file/{file_path} get parameters 0 name', 'file_path'],
  [
    'query-required',
    'paths /items/{item_id} get parameters 1',
    required('query', 'needy', { type: 'string', title: 'Needy' }),
  ],
  ['headers', 'paths /items/ get parameters 1 name', 'User-Agent'],
  [
    'headers',
    P,
    optional('header', 'items-id', nullable('Items-Id', { type: 'integer', minimum: 1 })),
  ],
  ['cookies', P, optional('cookie', 'ads_id', nullable('Ads Id', { type: 'string' }))],
  ['dependencies-nested', 'paths /items/{item_id} get parameters 2 name', 'last_query'],
  ['dependencies', 'paths /users/ get parameters 2 schema default', 100],
  ['dependencies', 'paths /users/ get parameters 3', undefined],
  [
    'body',
    'paths /items/ post requestBody content application/json schema $ref',
    '#/components/schemas/Item',
  ],
  ['body', 'components schemas Item required', ['price']],
  ['body', 'components schemas Item properties name', { type: 'string', default: 'Unnamed item' }],
  ['body', 'components schemas Item properties tax anyOf', [{ type: 'number' }, { type: 'null' }]],
  [
    'forms',
    'paths /login/ post requestBody content application/x-www-form-urlencoded schema required',
    ['username', 'password'],
  ],
  [
    'uploads',
    'paths /uploadfile/ post requestBody content multipart/form-data schema properties file',
    { type: 'string', contentMediaType: 'application/octet-stream' },
  ],
  ['uploads', 'paths / get responses 422', undefined],
  [
    'security',
    'components securitySchemes OAuth2PasswordBearer',
    { type: 'oauth2', flows: { password: { scopes: {}, tokenUrl: 'token' } } },
  ],
  ['security', 'paths /users/me get security 0 OAuth2PasswordBearer', []],
  ['security', 'paths /users/me get parameters', undefined],
  ['security', 'paths /token post security', undefined],
  [
    'security',
    'paths /token post responses 200 content application/json schema $ref',
    '#/components/schemas/Token',
  ],
  [
    'security',
    'paths /users/me get responses 200 content application/json schema $ref',
    '#/components/schemas/User',
  ],
  ['security', 'components schemas User required', ['username', 'email', 'full_name', 'disabled']],
  ['security', 'components schemas Token properties token_type', { const: 'bearer' }],
  ['security', 'paths /token post responses 400 description', 'Bad Request'],
  ['security', 'paths /users/me get responses 400 description', 'Bad Request'],
  ['security', 'paths /users/me get responses 401 description', 'Unauthorized'],
  ['background', 'paths /notifications/ post responses 202 description', 'Accepted'],
  ['background', 'paths /notifications/ post responses 200', undefined],
  ['errors', 'paths /items/{item_id} put responses 200', undefined],
  ['query-metadata', 'paths /items/{item-id} get parameters 0 name', 'item-id'],
  [
    'headers',
    'paths /trace/ get parameters 0',
    required('header', 'X-Trace-Id', {
      ...{ type: 'string', minLength: 4, maxLength: 16, pattern: '^[0-9a-f]+$' },
      title: 'Where it comes from',
    }),
  ],
  ['cookies', 'paths /session/ get parameters 0 name', 'session-id'],
  ['cookies', 'paths /session/ get parameters 0 schema default', 'guest'],
  ['global-dependencies', P, required('header', 'x-token', { type: 'string', title: 'X-Token' })],
  ['global-dependencies', 'paths /users/ get parameters 1 name', 'x-key'],
  ['body', 'components schemas ValidationError required', ['loc', 'msg', 'type']],
  [
    'body',
    'components schemas HTTPValidationError properties detail items $ref',
    '#/components/schemas/ValidationError',
  ],
]

for (const [example, keys, value] of TABLE) {
  test(`${example}: ${keys}`, async () => assert.deepEqual(await described(example, keys), value))
}

test('the internal name of an aliased parameter appears nowhere', async () => {
  const { text } = await ask('query-metadata', '/openapi.json')
  assert.equal(text.includes('"q"'), false)
})

test('every operation that checks something documents 422, and every reference leads somewhere', async () => {
  for (const [name, { source }] of examples) {
    const { text } = await ask(name, '/openapi.json')
    const { paths, components } = JSON.parse(text)
    for (const [path, methods] of Object.entries<Record<string, Operation>>(paths)) {
      for (const { parameters, requestBody, responses } of Object.values(methods)) {
        const checks = source.includes('valid(') || path.startsWith('/api/staff/')
        const expected = (parameters || requestBody) && checks ? 'HTTPValidationError' : undefined
        const schema = responses['422']?.content?.['application/json']?.schema.$ref
        assert.equal(schema?.split('/').at(-1), expected, name)
      }
    }
    for (const [, target] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      assert.ok(Object.hasOwn(components.schemas, target ?? ''), `${name}: ${target}`)
    }
  }
})

test('documented answers are those that come', async context => {
  context.mock.method(console, 'error', () => undefined)
  for (const name of examples.keys()) {
    const { paths } = JSON.parse((await ask(name, '/openapi.json')).text)
    for (const [template, methods] of Object.entries<Record<string, Operation>>(paths)) {
      for (const [verb, { responses }] of Object.entries(methods)) {
        const path = template.replace(/\{[^}]+\}/g, '1')
        const { status, headers } = await ask(name, { method: verb.toUpperCase(), path })
        if (status === 500) continue
        const place = `${name}: ${verb} ${template}: ${status}`
        assert.ok(responses[status], place)
        const type = headers['content-type']?.split(';')[0] ?? []
        assert.deepEqual(Object.keys(responses[status].content ?? {}), [type].flat(), place)
      }
    }
  }
})

test('the documentation page loads nothing and strikes through what is deprecated', async () => {
  const { text, headers } = await ask('query-metadata', '/docs')
  assert.match(text, /<s><code>item-query<\/code><\/s> deprecated/)
  assert.ok(
    text.includes(
      'query, Query string, string, minLength 3, maxLength 50, pattern &quot;^fixedquery$&quot;, or null<',
    ),
  )
  assert.match(
    String(headers['content-security-policy']),
    /^default-src 'none'; style-src 'nonce-[^']+'; script-src 'nonce-[^']+'; connect-src 'self';/,
  )
  for (const name of examples.keys()) {
    const page = await ask(name, '/docs')
    assert.equal(page.status, 200)
    assert.equal(/<script src|<link|<img|src=|@import|url\(/.test(page.text), false, name)
  }
})

interface Operation {
  readonly parameters?: unknown
  readonly requestBody?: unknown
  readonly responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>
}
