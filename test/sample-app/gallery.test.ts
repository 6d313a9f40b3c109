import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examples } from '../../sample-app/examples.ts'
import { answers, ask, serving } from './support/serving.ts'
import { matches, readVectors, wireRequest } from './support/vectors.ts'

const PAGE = { Accept: 'text/html,application/xhtml+xml' }

test('every vector that has one answer holds below /examples/NAME/ too', async () => {
  for (const vector of readVectors()) {
    const request = wireRequest(vector)
    const response = await ask('gallery', {
      ...request,
      path: `/examples/${vector.example}${request.path}`,
    })
    assert.equal(response.status, vector.expect.status, vector.id)
    if (vector.expect.json !== undefined)
      assert.ok(matches(JSON.parse(response.text), vector.expect.json, false), vector.id)
  }
})

test('the index explains every example, and its requests work as they stand', async () => {
  const origin = await serving('gallery')
  for (const path of ['/', '/examples/']) {
    const { text, headers } = await ask('gallery', { path, headers: PAGE })
    assert.match(String(headers['content-type']), /^text\/html/)
    for (const [name, example] of examples) {
      assert.ok(text.includes(example.about), name)
      const path = example.request.split(' ').at(-1)?.replaceAll("'", '') ?? ''
      assert.ok(text.includes(`${origin}/examples/${name}${path.replaceAll('&', '&amp;')}`), name)
    }
  }
  const plain = [...examples.values()].filter(({ request }) => request.startsWith("'/"))
  const statuses = plain.map(async ({ name, request }) => {
    const { status } = await ask('gallery', `/examples/${name}${request.replaceAll("'", '')}`)
    return [name, status] as const
  })
  const wrong = (await Promise.all(statuses)).filter(([, status]) => status !== 200)
  assert.deepEqual(wrong, [
    ['query-required', 422],
    ['path-validation', 422],
    ['path-validation-float', 422],
    ['path-validation-str', 422],
    ['errors', 404],
  ])
})

test('the root of every example answers: with its own page or with its documentation', async () => {
  for (const name of examples.keys()) {
    const { status, headers } = await ask('gallery', `/examples/${name}/`)
    const own = ['root', 'uploads'].includes(name)
    assert.deepEqual(
      [status, headers.location],
      own ? [200, undefined] : [302, `/examples/${name}/docs`],
    )
    assert.equal((await ask('gallery', `/examples/${name}/docs`)).status, 200)
  }
})

test('the root is a message for programs, and may not be cached for browsers', async () => {
  const { text, headers } = await ask('gallery', '/')
  assert.deepEqual([JSON.parse(text), headers.vary], [{ message: 'Hello World' }, 'Accept'])
  const page = await ask('gallery', { path: '/', headers: PAGE })
  assert.equal(page.headers.vary, 'Accept')
})

test('a browser gets the index at the root, and only for what it reads', async () => {
  for (const method of ['POST', 'OPTIONS', 'DELETE']) {
    const { status, headers, text } = await ask('gallery', { method, path: '/', headers: PAGE })
    assert.deepEqual(
      [status, headers.allow, text],
      [405, 'GET', '{"detail":"Method Not Allowed"}'],
      method,
    )
  }
  const head = await ask('gallery', { method: 'HEAD', path: '/', headers: PAGE })
  assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/html; charset=utf-8'])
  const table = {
    'TEXT/HTML': true,
    'application/json, text/html;q=0': false,
    'text/html; q=0.0': false,
    '*/*': false,
  }
  for (const [Accept, page] of Object.entries(table)) {
    const { headers } = await ask('gallery', { path: '/', headers: { Accept } })
    assert.equal(headers['content-type']?.startsWith('text/html'), page, Accept)
  }
})

test('a slash too few is corrected with the prefix kept', async () => {
  const origin = await serving('gallery')
  const table = {
    '/examples': '/examples/',
    '/examples/root': '/examples/root/',
    '/examples/query-params/items?skip=1': '/examples/query-params/items/?skip=1',
    '/examples/path-params/items/5/': '/examples/path-params/items/5',
    '/items?skip=1': '/items/?skip=1',
  }
  for (const [path, target] of Object.entries(table)) {
    const { status, headers } = await ask('gallery', path)
    assert.deepEqual([status, headers.location], [307, `${origin}${target}`])
  }
})

test('what does not exist is 404 or 405 as in an example alone', async () => {
  for (const path of [
    '/examples/nope',
    '/examples/nope/',
    '/examples/root/nope',
    '/examples/constructor/items/',
    '/nope',
    '/examplesx',
  ]) {
    await answers('gallery', path, 404, { detail: 'Not Found' })
  }
  const { status, headers } = await ask('gallery', { method: 'POST', path: '/examples/root/' })
  assert.deepEqual([status, headers.allow], [405, 'GET'])
  const both = await ask('gallery', { method: 'DELETE', path: '/items/' })
  assert.deepEqual([both.status, both.headers.allow], [405, 'GET, POST'])
})

test('the root answers with the winner of each path', async () => {
  const { text } = await ask('gallery', '/openapi.json')
  const described = Object.entries<object>(JSON.parse(text).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(described.toSorted(), [
    ...['GET /', 'GET /file/{file_path}', 'GET /https', 'GET /items/', 'GET /items/{item_id}'],
    ...['GET /items/{item_id}/{user_id}', 'GET /users/', 'GET /users/me'],
    ...['GET /users/{user_id}/items/{item_id}', 'GET /value/', 'POST /items/', 'POST /login/'],
    ...['POST /token', 'POST /uploadfile/'],
  ])
  await answers('gallery', '/items/5?q=a', 200, { item_id: '5', q: 'a' })
  await answers('gallery', '/items/?limit=1', 200, [{ item_name: 'Foo' }])
  await answers('gallery', '/users/', 200, { q: null, skip: 0, limit: 100 })
  await answers('gallery', '/users/me', 401, { detail: 'Not authenticated' })
})

test('a description below a prefix names it, and the upload form posts below it', async () => {
  const { text } = await ask('gallery', '/examples/uploads/openapi.json')
  assert.deepEqual(JSON.parse(text).servers, [{ url: '/examples/uploads' }])
  const page = await ask('gallery', '/examples/uploads/')
  assert.ok(page.text.includes('action="/examples/uploads/uploadfile/"'))
})
