import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import * as v from 'valibot'
import { integer } from '../../sample-app/examples/validator/path-params-int.ts'
import { complete, valid } from '../../sample-app/valid/valid.ts'
import { BOUNDARY, MULTIPART, multipart, type Part, URLENCODED } from './support/forms.ts'
import { missing, refused } from './support/refused.ts'
import { answering, served } from './support/serving.ts'

const gives = answering('forms')
const MIB = 1024 * 1024
const BOTH = missing(['body', 'username'], ['body', 'password'])
const TOO_LONG = { detail: 'Field exceeded maximum size of 1024KB.' }

function login(body: string, headers: Record<string, string> = URLENCODED) {
  return { method: 'POST', path: '/login/', headers, body }
}

function parts(...list: Part[]) {
  return login(multipart(list), MULTIPART)
}

test('urlencoded: the username comes back, the password does not', async () => {
  await gives(login('username=johndoe&password=secret&extra=1'), 200, { username: 'johndoe' })
  await gives(login('username=a+%2B%C3%A9%ff&password=;'), 200, { username: 'a +é�' })
  const type = 'Application/X-WWW-Form-Urlencoded; charset=utf-8'
  await gives(login('username=a&password=x', { 'Content-Type': type }), 200, { username: 'a' })
})

test('names and values are told as they were sent', async () => {
  await gives(login('?username=a&password=b'), 422, missing(['body', 'username']))
  const value = '\uFEFFa'
  const fields = parts({ name: 'username', value }, { name: 'password', value: 'x' })
  await gives(fields, 200, { username: value })
})

test('what is missing or empty is missing, all of it', async () => {
  await gives(login('username&password='), 422, BOTH)
  await gives(login('username=a'), 422, missing(['body', 'password']))
  const empty = parts({ name: 'username', value: '' }, { name: 'password', value: 'x' })
  await gives(empty, 422, missing(['body', 'username']))
})

test('JSON, text, nothing, and the query are no form: both are missing, never 415', async () => {
  const body = multipart([{ name: 'username', value: 'a' }])
  for (const [text, type] of [
    ['{"username":"a","password":"b"}', 'application/json'],
    ['username=a&password=b', 'text/plain'],
    [body, 'multipart/mixed; boundary=x'],
  ] as const)
    await gives(login(text, { 'Content-Type': type }), 422, BOTH)
  await gives(login('username=a&password=b', {}), 422, BOTH)
  await gives({ method: 'POST', path: '/login/?username=a&password=b' }, 422, BOTH)
})

test('a file where text is declared is refused', async () => {
  const msg = 'Input should be a valid string'
  const file = { name: 'username', filename: 'a.txt', content: 'x' }
  const fields = parts(file, { name: 'password', value: 'x' })
  await gives(fields, 422, refused('string_type', ['body', 'username'], msg, {}))
})

test('more than 1000 fields are 400, urlencoded and multipart', async () => {
  const many = { detail: 'Too many fields. Maximum number of fields is 1000.' }
  const filler = (count: number) => 'x=1&&'.repeat(count)
  await gives(login(`${filler(998)}username=a&password=b`), 200, { username: 'a' })
  await gives(login(`${filler(999)}username=a&password=b`), 400, many)
  const fillers = (count: number) =>
    Array.from({ length: count }, (): Part => ({ name: 'x', value: '' }))
  const fields = [
    { name: 'username', value: 'a' },
    { name: 'password', value: 'b' },
  ]
  await gives(parts(...fillers(998), ...fields), 200, { username: 'a' })
  await gives(parts(...fillers(999), ...fields), 400, many)
})

test('a value beyond 1 MiB is 400, whether it is declared or not', async () => {
  const value = 'x'.repeat(MIB)
  await gives(login(`username=a&password=${value}`), 200, { username: 'a' })
  await gives(login(`username=a&password=${value}x`), 400, TOO_LONG)
  await gives(login(`other=${value}x&username=a&password=b`), 400, TOO_LONG)
  const long = { detail: 'Part exceeded maximum size of 1024KB.' }
  const fields = (...more: Part[]) => parts({ name: 'username', value: 'a' }, ...more)
  await gives(fields({ name: 'password', value }), 200, { username: 'a' })
  await gives(fields({ name: 'password', value: `${value}x` }), 400, long)
  await gives(fields({ name: 'other', value: `${value}x` }), 400, long)
})

test('an endless field is refused while it arrives', async () => {
  await gives(login('x'.repeat(4 * MIB)), 400, TOO_LONG)
  let pieces = 0
  const body = new ReadableStream({
    pull(controller) {
      const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="username"\r\n\r\n`
      controller.enqueue(Buffer.from(pieces === 0 ? head : 'x'.repeat(MIB / 4)))
      pieces += 1
      if (pieces === 100) controller.close()
    },
  })
  const init = { method: 'POST', headers: MULTIPART, body, duplex: 'half' as const }
  assert.equal((await lists.request('/', init)).status, 400)
  assert.ok(pieces < 10, String(pieces))
})

const routes = new Hono()
const List = v.object({ tag: v.array(v.string()), number: v.optional(v.array(integer)) })
routes.post('/', valid('form', List), complete, c => c.json(c.req.valid('form')))
const lists = served(routes)

async function send(body: string, headers: Record<string, string> = URLENCODED) {
  const response = await lists.request('/', { method: 'POST', headers, body })
  return { status: response.status, body: await response.json() }
}

test('a list in a form has every value of its name, in this order', async () => {
  const expected = { status: 200, body: { tag: ['a', '', 'b'] } }
  assert.deepEqual(await send('tag=a&x=1&tag=&tag=b'), expected)
  const tags = ['a', '', 'b'].map(value => ({ name: 'tag', value }))
  assert.deepEqual(await send(multipart(tags), MULTIPART), expected)
  assert.deepEqual(await send('tag=a'), { status: 200, body: { tag: ['a'] } })
  assert.deepEqual(await send('x=1'), { status: 422, body: missing(['body', 'tag']) })
})

test('a value of a list that is wrong is told with its place', async () => {
  const { status, body } = await send('tag=a&number=1&number=x')
  const msg = 'Input should be a valid integer, unable to parse string as an integer'
  assert.equal(status, 422)
  assert.deepEqual(body, refused('int_parsing', ['body', 'number', 1], msg, 'x'))
})

test('a list keeps no more than 16 MiB in memory', async () => {
  const value = 'x'.repeat(MIB)
  const tags = (count: number) =>
    multipart(Array.from({ length: count }, () => ({ name: 'tag', value })))
  assert.equal((await send(tags(16), MULTIPART)).status, 200)
  assert.deepEqual(await send(tags(17), MULTIPART), {
    status: 413,
    body: { detail: 'Request body too large' },
  })
})

test('a form is read when it is checked: whoever is refused before that sends it in vain', async () => {
  const app = new Hono()
  app.use('/files', async (c, next) => {
    if (!c.req.header('X-Key')) return c.json(null, 401)
    await next()
  })
  app.post('/files', valid('form', v.object({ file: v.file() })), complete, c => c.json(null))
  const send = (headers: Record<string, string>) =>
    served(app).request('/files', { method: 'POST', body: 'garbage', headers })
  assert.equal((await send(MULTIPART)).status, 401)
  assert.equal((await send({ ...MULTIPART, 'X-Key': 'a' })).status, 400)
})
