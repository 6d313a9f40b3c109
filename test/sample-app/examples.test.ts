import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MULTIPART, multipart } from './support/forms.ts'
import { missing, refused } from './support/refused.ts'
import { answers, ask } from './support/serving.ts'

const ITEMS = [{ item_name: 'Foo' }, { item_name: 'Bar' }, { item_name: 'Baz' }]
const INT = 'Input should be a valid integer, unable to parse string as an integer'

test('root: a message, and nothing else', async () => {
  const { text } = await ask('root', '/')
  assert.deepEqual(JSON.parse(text), { message: 'Hello World' })
})

test('path-params: text, two of them, no third', async () => {
  await answers('path-params', '/items/foo/5', 200, { item_id: 'foo', user_id: '5' })
  await answers('path-params', '/items/5?q=ignored', 200, { item_id: '5' })
})

test('path-params-int: q only when it is not empty', async () => {
  await answers('path-params-int', '/items/5', 200, { item_id: 5 })
  await answers('path-params-int', '/items/5?q=', 200, { item_id: 5 })
  await answers(
    'path-params-int',
    '/items/foo',
    422,
    refused('int_parsing', ['path', 'item_id'], INT, 'foo'),
  )
})

test('path-converter: slashes are kept, doubled, leading, trailing and encoded; a line break is no path', async () => {
  await answers('path-converter', '/file//home/x', 200, { file_path: '/home/x' })
  await answers('path-converter', '/file/a/', 200, { file_path: 'a/' })
  await answers('path-converter', '/file/a%2Fb', 200, { file_path: 'a/b' })
  for (const path of ['/file/a%0Ab', '/file/%0a', '/file/a%0A']) {
    await answers('path-converter', path, 404, { detail: 'Not Found' })
  }
  assert.equal((await ask('path-converter', '/file')).status, 307)
})

test('path-validation: more than 0, at most 1000', async () => {
  await answers('path-validation', '/items/1', 200, { item_id: 1 })
  await answers('path-validation', '/items/1000?q=a', 200, { item_id: 1000, q: 'a' })
  const low = refused('greater_than', ['path', 'item_id'], 'Input should be greater than 0', '0', {
    gt: 0,
  })
  await answers('path-validation', '/items/0', 422, low)
  const high = (input: string) =>
    refused(
      'less_than_equal',
      ['path', 'item_id'],
      'Input should be less than or equal to 1000',
      input,
      { le: 1000 },
    )
  await answers('path-validation', '/items/1001', 422, high('1001'))
  await answers('path-validation', '/items/99999999999999999999', 422, high('99999999999999999999'))
})

test('path-validation-float: from 0.5, below 10.5', async () => {
  await answers('path-validation-float', '/items/0.5', 200, { item_id: 0.5 })
  await answers('path-validation-float', '/items/1e1', 200, { item_id: 10 })
  const high = (input: string) =>
    refused('less_than', ['path', 'item_id'], 'Input should be less than 10.5', input, { lt: 10.5 })
  await answers('path-validation-float', '/items/10.5', 422, high('10.5'))
  await answers('path-validation-float', '/items/inf', 422, high('inf'))
})

test('path-validation-str: length, then pattern', async () => {
  await answers('path-validation-str', '/items/ab', 200, { item_id: 'ab' })
  const pattern = '^[a-z]+$'
  const mismatch = refused(
    'string_pattern_mismatch',
    ['path', 'item_id'],
    `String should match pattern '${pattern}'`,
    'AB',
    { pattern },
  )
  await answers('path-validation-str', '/items/AB', 422, mismatch)
})

test('query-params: a slice; negative numbers count from the end', async () => {
  const slices: readonly (readonly [query: string, from: number, to: number])[] = [
    ['', 0, 3],
    ['?skip=1&limit=1', 1, 2],
    ['?skip=3', 3, 3],
    ['?limit=0', 0, 0],
    ['?skip=-1', 2, 3],
    ['?limit=-1', 0, 2],
    ['?skip=-2&limit=1', 1, 2],
    ['?skip=-1&limit=1', 3, 3],
    ['?skip=99999999999999999999', 3, 3],
    ['?limit=99999999999999999999', 0, 3],
    ['?skip=-99999999999999999999&limit=99999999999999999999', 0, 0],
  ]
  for (const [query, from, to] of slices)
    await answers('query-params', `/items/${query}`, 200, ITEMS.slice(from, to))
})

test('query-optional and query-required', async () => {
  await answers('query-optional', '/items/foo', 200, { item_id: 'foo' })
  await answers('query-optional', '/items/foo?q=a', 200, { item_id: 'foo', q: 'a' })
  await answers('query-required', '/items/foo?needy=a', 200, { item_id: 'foo', needy: 'a' })
  await answers('query-required', '/items/foo?Needy=a', 422, missing(['query', 'needy']))
})

test('query-mixed: q and description come and go; both bad: the path first', async () => {
  const description = 'This is an amazing item that has a long description'
  await answers('query-mixed', '/users/1/items/foo', 200, {
    item_id: 'foo',
    owner_id: 1,
    description,
  })
  await answers('query-mixed', '/users/1/items/foo?q=a&short=0', 200, {
    item_id: 'foo',
    owner_id: 1,
    q: 'a',
    description,
  })
  await answers('query-mixed', '/users/1/items/foo?q=&short=on', 200, {
    item_id: 'foo',
    owner_id: 1,
  })
  const { text, status } = await ask('query-mixed', '/users/x/items/foo?short=')
  assert.equal(status, 422)
  assert.deepEqual(
    JSON.parse(text).detail.map((one: { loc: string[] }) => one.loc),
    [
      ['path', 'user_id'],
      ['query', 'short'],
    ],
  )
})

test('query-validation: null when absent, empty when empty, 50 code points', async () => {
  await answers('query-validation', '/items/', 200, { q: null, items: ITEMS })
  await answers('query-validation', '/items/?q=', 200, { q: '', items: ITEMS })
  const emoji = '😀'.repeat(50)
  await answers('query-validation', `/items/?q=${encodeURIComponent(emoji)}`, 200, {
    q: emoji,
    items: ITEMS,
  })
})

test('query-list: one value, none, an empty one, one with a comma', async () => {
  await answers('query-list', '/items/?q=a', 200, { q: ['a'] })
  await answers('query-list', '/items/', 200, { q: null })
  await answers('query-list', '/items/?q=', 200, { q: [''] })
  await answers('query-list', '/items/?q=a,b', 200, { q: ['a,b'] })
  await answers('query-list', '/items/?q=a&x=1&q=b&q=a', 200, { q: ['a', 'b', 'a'] })
})

test('query-metadata: only the alias counts, and errors name it', async () => {
  await answers('query-metadata', '/items/?q=fixedquery', 200, { q: null, items: ITEMS })
  const short = 'String should have at least 3 characters'
  await answers(
    'query-metadata',
    '/items/?item-query=ab',
    422,
    refused('string_too_short', ['query', 'item-query'], short, 'ab', { min_length: 3 }),
  )
  const pattern = '^fixedquery$'
  const msg = `String should match pattern '${pattern}'`
  await answers(
    'query-metadata',
    '/items/?item-query=nonregex',
    422,
    refused('string_pattern_mismatch', ['query', 'item-query'], msg, 'nonregex', { pattern }),
  )
})

test('query-default: the default, another value, a short one', async () => {
  await answers('query-default', '/items/', 200, { q: 'fixedquery', items: ITEMS })
  await answers('query-default', '/items/?q=other', 200, { q: 'other', items: ITEMS })
  const short = 'String should have at least 3 characters'
  await answers(
    'query-default',
    '/items/?q=ab',
    422,
    refused('string_too_short', ['query', 'q'], short, 'ab', { min_length: 3 }),
  )
})

test('headers: a number of at least 1', async () => {
  const items = (value: string) => ({ path: '/items/', headers: { 'items-id': value } })
  const msg = 'Input should be greater than or equal to 1'
  await answers(
    'headers',
    items('0'),
    422,
    refused('greater_than_equal', ['header', 'items-id'], msg, '0', { ge: 1 }),
  )
  await answers(
    'headers',
    items('x'),
    422,
    refused('int_parsing', ['header', 'items-id'], INT, 'x'),
  )
  await answers('headers', items('1'), 200, { 'User-Agent': null, items_id: 1 })
})

test('dependencies: the same three values on both paths', async () => {
  await answers('dependencies', '/users/', 200, { q: null, skip: 0, limit: 100 })
  await answers('dependencies', '/items/?q=&limit=-1', 200, { q: '', skip: 0, limit: -1 })
  await answers(
    'dependencies',
    '/items/?skip=x',
    422,
    refused('int_parsing', ['query', 'skip'], INT, 'x'),
  )
})

test('dependencies-class: q only when it is not empty, and the slice', async () => {
  await answers('dependencies-class', '/items/', 200, { items: ITEMS })
  await answers('dependencies-class', '/users/?q=&skip=1&limit=1', 200, {
    items: [{ item_name: 'Bar' }],
  })
})

test('dependencies-nested: the query, else the cookie, else nothing', async () => {
  const headers = { Cookie: 'last_query=from_cookie' }
  await answers('dependencies-nested', { path: '/items/1?q=a', headers }, 200, { q_or_cookie: 'a' })
  await answers('dependencies-nested', { path: '/items/1?q=', headers }, 200, {
    q_or_cookie: 'from_cookie',
  })
  await answers('dependencies-nested', '/items/1', 200, { q_or_cookie: null })
  await answers(
    'dependencies-nested',
    { path: '/items/1', headers: { Cookie: 'last_query=' } },
    200,
    {
      q_or_cookie: '',
    },
  )
})

test('path-alias, header-options and cookie-options: the names outside, and rules', async () => {
  await answers('path-alias', '/items/5', 200, { item_id: '5' })
  const items = (headers: Record<string, string | string[]>) => ({ path: '/items/', headers })
  const headers = { 'X-Trace-Id': '00c0ffee', 'X-Tag': ['a', 'b'] }
  const found = { trace: '00c0ffee', tags: ['a', 'b'] }
  await answers('header-options', items(headers), 200, found)
  await answers(
    'header-options',
    items({ trace: '00c0ffee' }),
    422,
    missing(['header', 'x-trace-id']),
  )
  const pattern = '^[a-z0-9]+$'
  const msg = `String should match pattern '${pattern}'`
  const type = 'string_pattern_mismatch'
  const expected = refused(type, ['cookie', 'session-id'], msg, 'A', { pattern })
  await answers('cookie-options', items({ Cookie: 'session-id=A' }), 422, expected)
  await answers('cookie-options', items({ Cookie: 'session-id=a1' }), 200, { session: 'a1' })
  await answers('cookie-options', '/items/', 200, { session: 'guest' })
  const set = await ask('cookie-options', { method: 'POST', path: '/session/' })
  assert.match(String(set.headers['set-cookie']), /^session-id=abc123; .*HttpOnly; SameSite=Strict/)
})

test("errors: a status, a header and an error of one's own", async () => {
  await answers('errors', '/items/1', 200, { item_id: 1, name: 'Foo' })
  await answers('errors', '/items/2', 404, { detail: 'There is no item 2' })
  const { status, headers, text } = await ask('errors', { method: 'PUT', path: '/items/2' })
  assert.deepEqual([status, headers.location, text], [201, '/items/2', '{"item_id":2}'])
  const far = await ask('errors', { method: 'PUT', path: `/items/-${'9'.repeat(30)}` })
  assert.equal(far.status, 422)
  const both = await ask('errors', { method: 'DELETE', path: '/items/2' })
  assert.deepEqual([both.status, both.headers.allow], [405, 'GET, PUT'])
})

test('upload-methods: a file is read in pieces, sought, written and closed', async () => {
  const content = `first\n${'x'.repeat(2_000_000)}`
  const body = multipart([{ name: 'file', filename: 'a.txt', contentType: 'text/plain', content }])
  const stamped = `${content}\n-- received\n`
  const request = { method: 'POST', path: '/stamp/', headers: MULTIPART, body }
  await answers('upload-methods', request, 200, {
    size: stamped.length,
    sha256: createHash('sha256').update(stamped).digest('hex'),
    last: 'received',
  })
})

test('every example is one screen, and most teach Hono and Valibot themselves', () => {
  const folder = new URL('../../../sample-app/examples/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sources = files.filter(name => name.endsWith('.ts'))
  const texts = sources.map(name => readFileSync(new URL(name, folder), 'utf8'))
  assert.ok(texts.every(text => text.split('\n').length <= 81))
  const both = texts.filter(text => /from 'hono'/.test(text) && /from 'valibot'/.test(text))
  assert.ok(both.length >= 25)
})
