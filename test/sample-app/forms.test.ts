import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MULTIPART, multipart, type Part, URLENCODED } from './support/forms.ts'
import { missing, refused } from './support/refused.ts'
import { answers } from './support/serving.ts'

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
  await answers('forms', login('username=johndoe&password=secret&extra=1'), 200, { username: 'johndoe' })
  await answers('forms', login('username=a+%2B%C3%A9%ff&password=;'), 200, { username: 'a +é�' })
  await answers(
    'forms',
    login('username=a&password=x', { 'Content-Type': 'Application/X-WWW-Form-Urlencoded; charset=utf-8' }),
    200,
    {
      username: 'a',
    },
  )
})

test('what is missing or empty is missing, all of it', async () => {
  await answers('forms', login('username&password='), 422, BOTH)
  await answers('forms', login('username=a'), 422, missing(['body', 'password']))
  await answers(
    'forms',
    parts({ name: 'username', value: '' }, { name: 'password', value: 'x' }),
    422,
    missing(['body', 'username']),
  )
})

test('JSON, text, nothing, and the query are no form: both are missing, never 415', async () => {
  await answers('forms', login('{"username":"a","password":"b"}', { 'Content-Type': 'application/json' }), 422, BOTH)
  await answers('forms', login('username=a&password=b', { 'Content-Type': 'text/plain' }), 422, BOTH)
  await answers('forms', login('username=a&password=b', {}), 422, BOTH)
  await answers(
    'forms',
    login(multipart([{ name: 'username', value: 'a' }]), { 'Content-Type': 'multipart/mixed; boundary=x' }),
    422,
    BOTH,
  )
  await answers('forms', { method: 'POST', path: '/login/?username=a&password=b' }, 422, BOTH)
})

test('names that objects have anyway are no fields', async () => {
  await answers('forms', login('__proto__=a&constructor=b&toString=c'), 422, BOTH)
})

test('a file where text is declared is refused', async () => {
  const expected = refused('string_type', ['body', 'username'], 'Input should be a valid string', {
    filename: 'a.txt',
    content_type: null,
  })
  await answers(
    'forms',
    parts({ name: 'username', filename: 'a.txt', content: 'x' }, { name: 'password', value: 'x' }),
    422,
    expected,
  )
})

test('more than 1000 fields are 400, urlencoded and multipart', async () => {
  const many = { detail: 'Too many fields. Maximum number of fields is 1000.' }
  const filler = (count: number) => 'x=1&&'.repeat(count)
  await answers('forms', login(`${filler(998)}username=a&password=b`), 200, { username: 'a' })
  await answers('forms', login(`${filler(999)}username=a&password=b`), 400, many)
  const fillers = (count: number) => Array.from({ length: count }, (): Part => ({ name: 'x', value: '' }))
  const fields = [
    { name: 'username', value: 'a' },
    { name: 'password', value: 'b' },
  ]
  await answers('forms', parts(...fillers(998), ...fields), 200, { username: 'a' })
  await answers('forms', parts(...fillers(999), ...fields), 400, many)
})

test('a value beyond 1 MiB is 400, whether it is declared or not', async () => {
  const value = 'x'.repeat(MIB)
  await answers('forms', login(`username=a&password=${value}`), 200, { username: 'a' })
  await answers('forms', login(`username=a&password=${value}x`), 400, TOO_LONG)
  await answers('forms', login(`other=${value}x&username=a&password=b`), 400, TOO_LONG)
  await answers('forms', login(`${'n'.repeat(20_000)}=1&username=a&password=b`), 400, TOO_LONG)
  const long = { detail: 'Part exceeded maximum size of 1024KB.' }
  const fields = (...more: Part[]) => parts({ name: 'username', value: 'a' }, ...more)
  await answers('forms', fields({ name: 'password', value }), 200, { username: 'a' })
  await answers('forms', fields({ name: 'password', value: `${value}x` }), 400, long)
  await answers('forms', fields({ name: 'other', value: `${value}x` }), 400, long)
})

test('an endless field is refused while it arrives', async () => {
  await answers('forms', login('x'.repeat(4 * MIB)), 400, TOO_LONG)
})

test('multipart text is UTF-8, or Latin-1 where it is not', async () => {
  const raw = multipart([
    { name: 'username', value: 'é' },
    { name: 'password', value: 'x' },
  ])
  await answers('forms', login(raw, MULTIPART), 200, { username: 'é' })
  const latin1 = { method: 'POST', path: '/login/', headers: MULTIPART, body: Buffer.from(raw, 'latin1') }
  await answers('forms', latin1, 200, { username: 'é' })
  assert.notDeepEqual(Buffer.from(raw, 'latin1'), Buffer.from(raw))
})
