import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Hono } from 'hono'
import { answers, ask, served, serving } from './support/serving.ts'

const NOT_FOUND = { detail: 'Not Found' }

test('JSON is compact, without a charset, its text unescaped', async () => {
  const { headers, text } = await ask('path-params', '/items/%C3%A9%E4%BD%A0')
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(text, '{"item_id":"é你"}')
})

test('no route: 404', async () => {
  for (const path of ['/nope', '/items/a/b/c', '/items//b', '/items//', '/ITEMS/5', '//items/5']) {
    await answers('path-params', path, 404, NOT_FOUND)
  }
})

test('a path that another method takes: 405 with that method', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { status, headers, text } = await ask('path-params', { method, path: '/items/5' })
    assert.deepEqual(
      [status, headers.allow, text],
      [405, 'GET', '{"detail":"Method Not Allowed"}'],
      method,
    )
  }
  const { status, headers } = await ask('forms', '/login/')
  assert.deepEqual([status, headers.allow], [405, 'POST'])
})

test('HEAD is answered where GET is, without a body', async () => {
  const get = await ask('query-params', '/items/?limit=1')
  const head = await ask('query-params', { method: 'HEAD', path: '/items/?limit=1' })
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.equal(head.headers['content-type'], get.headers['content-type'])
  const post = await ask('forms', { method: 'HEAD', path: '/login/' })
  assert.deepEqual([post.status, post.headers.allow, post.text], [405, 'POST', ''])
})

test('an exception is a 500 in plain text that says nothing of its cause', async context => {
  const logged = context.mock.method(console, 'error', () => undefined)
  const app = new Hono()
  app.get('/', () => {
    throw new Error('the cause')
  })
  const response = await served(app).request('/')
  assert.equal(response.status, 500)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
  assert.equal(await response.text(), 'Internal Server Error')
  assert.equal(logged.mock.callCount(), 1)
})

async function redirects(
  example: string,
  path: string,
  target: string,
  method = 'GET',
): Promise<void> {
  const { status, headers, text } = await ask(example, { method, path })
  const location = `${await serving(example)}${target}`
  assert.deepEqual(
    [status, headers.location, headers['content-length'], text],
    [307, location, '0', ''],
    path,
  )
}

test('a slash too few or too many: 307 to the absolute address, the query untouched', async () => {
  await redirects('query-params', '/items', '/items/')
  await redirects('query-params', '/items?skip=%31&x=a+b&y', '/items/?skip=%31&x=a+b&y')
  await redirects('query-params', `/items?q='"<`, `/items/?q='"<`)
  await redirects('path-params', '/items/5/', '/items/5')
  await redirects('path-params', '/items/5//', '/items/5')
  await redirects('path-params', '/items/a%20b%2Fc/', '/items/a%20b%2Fc')
  await redirects('security', '/token/', '/token', 'POST')
  await redirects('security', '/users/me/', '/users/me')
  await redirects('https', '/https/', '/https')
  await redirects('uploads', '/uploadfile', '/uploadfile/', 'POST')
  await redirects('root', '/docs/', '/docs')
  await redirects('cors', '/api/items', '/api/items/')
})

test('the redirect comes whatever the method, also to a 405', async () => {
  for (const method of ['POST', 'DELETE', 'OPTIONS'])
    await redirects('query-params', '/items', '/items/', method)
})

test('404, 405 and 307 come before parameters, global dependencies and logins', async () => {
  await redirects('global-dependencies', '/items', '/items/')
  await answers('global-dependencies', '/nope', 404, NOT_FOUND)
  await answers('global-dependencies', { method: 'POST', path: '/items/' }, 405, {
    detail: 'Method Not Allowed',
  })
  await answers('security', { method: 'POST', path: '/users/me' }, 405, {
    detail: 'Method Not Allowed',
  })
})

test('the redirect names the host that was asked for', async () => {
  const { headers } = await ask('query-params', {
    path: '/items',
    headers: { Host: 'shop.example:8080' },
  })
  assert.equal(headers.location, 'http://shop.example:8080/items/')
})

test('an error says how long it is, like any other answer', async () => {
  const table = [
    ['path-params', '/nope'],
    ['forms', '/login/'],
    ['security', '/users/me'],
  ] as const
  for (const [example, path] of table) {
    const { headers, text } = await ask(example, path)
    assert.equal(headers['content-length'], String(text.length), path)
  }
})

test('the path is decoded once, before routing', async () => {
  const table = {
    'a%20b': 'a b',
    'a+b': 'a+b',
    '%C3%A9': 'é',
    '%ff': '�',
    '%zz': '%zz',
    'a%': 'a%',
    '%252F': '%2F',
    '%3Fx%23y': '?x#y',
    'a%0Ab': 'a\nb',
    '%E2%82': '�',
    '%00': '\0',
    "a'b": "a'b",
    '%EF%BB%BFa': '\uFEFFa',
    __proto__: '__proto__',
  }
  for (const [written, item_id] of Object.entries(table))
    await answers('path-params', `/items/${written}`, 200, { item_id })
  await answers('path-params', '/%69tems/5', 200, { item_id: '5' })
})

test('%2F stays inside its segment and is a slash in the value', async () => {
  await answers('path-params', '/items/a%2Fb', 200, { item_id: 'a/b' })
  await answers('path-params', '/items/a%2fb/c', 200, { item_id: 'a/b', user_id: 'c' })
})

test('dot segments are not collapsed', async () => {
  await answers('path-converter', '/file/../x', 200, { file_path: '../x' })
  await answers('path-converter', '/file/a/./b/..', 200, { file_path: 'a/./b/..' })
})

test('a request target may be absolute', async () => {
  const head =
    'GET http://shop.example/items/5?x HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n'
  assert.match(await sent(await serving('path-params'), head), /\r\n\r\n\{"item_id":"5"\}$/)
})

/** Everything that comes back for exactly these characters. */
function sent(origin: string, request: string): Promise<string> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.write(request)
  return text(socket)
}
