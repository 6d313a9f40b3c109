import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  DECOY,
  hashPassword,
  PASSWORD_HASH,
  verifyPassword,
} from '../../sample-app/examples/security/password.ts'
import { MULTIPART, multipart, URLENCODED, urlencoded } from './support/forms.ts'
import { missing, refused } from './support/refused.ts'
import { answering, ask } from './support/serving.ts'

const gives = answering('security')
const guarded = answering('global-dependencies')
const WRONG = { detail: 'Incorrect username or password' }
const JOHN = {
  username: 'johndoe',
  email: 'johndoe@example.com',
  full_name: 'John Doe',
  disabled: false,
}

const GOOD = { username: 'johndoe', password: 'secret' }

/** The status, the body and the challenge of an answer. */
async function told(request: Parameters<typeof ask>[1]) {
  const { status, text, headers } = await ask('security', request)
  return [status, JSON.parse(text), headers['www-authenticate']]
}

function login(form: Record<string, string>) {
  return { method: 'POST', path: '/token', headers: URLENCODED, body: urlencoded(form) }
}

function me(authorization?: string) {
  return {
    path: '/users/me',
    headers: authorization === undefined ? {} : { Authorization: authorization },
  }
}

test('a good login answers with a token, also of a disabled user, also as multipart', async () => {
  const token = (access_token: string) => ({ access_token, token_type: 'bearer' })
  await gives(login(GOOD), 200, token('johndoe'))
  await gives(login({ username: 'alice', password: 'secret2' }), 200, token('alice'))
  const body = multipart(Object.entries(GOOD).map(([name, value]) => ({ name, value })))
  await gives({ method: 'POST', path: '/token', headers: MULTIPART, body }, 200, token('johndoe'))
})

test('an unknown user and a wrong password are told apart by nothing', async () => {
  for (const username of ['johndoe', 'nobody', 'Johndoe', 'constructor', '__proto__']) {
    const answer = await told(login({ username, password: 'secret2' }))
    assert.deepEqual(answer, [400, WRONG, undefined], username)
  }
})

test('many logins at once take the memory of one', async () => {
  const before = process.memoryUsage().arrayBuffers
  const all = Promise.all(Array.from({ length: 10 }, () => hashPassword('secret')))
  await setImmediate()
  const taken = (process.memoryUsage().arrayBuffers - before) / 1024 / 1024
  assert.ok(taken < 40, `${taken} MiB`)
  assert.equal(new Set(await all).size, 10)
})

test('a password with a NUL behind it is another password', async () => {
  await gives(login({ ...GOOD, password: 'secret\0' }), 400, WRONG)
  const hash = await hashPassword('secret')
  for (const password of ['secret\0', 'secret\0\0', '\0secret'])
    assert.equal(await verifyPassword(password, hash), false)
})

test('grant_type is absent, empty or exactly password', async () => {
  const good = { ...GOOD, scope: 'a b', client_id: 'c', client_secret: 'd', extra: 'e' }
  for (const grant_type of ['', 'password'])
    assert.equal((await ask('security', login({ ...good, grant_type }))).status, 200)
  const pattern = '^password$'
  const msg = `String should match pattern '${pattern}'`
  for (const grant_type of ['Password', 'password\n', 'client_credentials']) {
    const { detail } = refused('string_pattern_mismatch', ['body', 'grant_type'], msg, grant_type, {
      pattern,
    })
    await gives(login({ ...good, grant_type }), 422, { detail })
    const { detail: more } = missing(['body', 'username'], ['body', 'password'])
    await gives(login({ grant_type }), 422, { detail: [...detail, ...more] })
  }
})

test('the user behind a token, without the password', async () => {
  for (const scheme of ['Bearer johndoe', 'bearer johndoe', 'BEARER johndoe', 'Bearer   johndoe']) {
    await gives(me(scheme), 200, JOHN)
  }
  await gives(me('Bearer alice'), 400, { detail: 'Inactive user' })
})

test('no bearer token: not authenticated; one of nobody: invalid; both with the challenge', async () => {
  const table = [
    [undefined, 'Not authenticated'],
    ['', 'Not authenticated'],
    ['Basic am9obg==', 'Not authenticated'],
    ['johndoe', 'Not authenticated'],
    ['Bearer\tjohndoe', 'Not authenticated'],
    ['Bearerjohndoe', 'Not authenticated'],
    ['Bearer', 'Invalid authentication credentials'],
    ['Bearer nobody', 'Invalid authentication credentials'],
    ['Bearer Johndoe', 'Invalid authentication credentials'],
    ['Bearer constructor', 'Invalid authentication credentials'],
    ['Bearer johndoe x', 'Invalid authentication credentials'],
  ] as const
  for (const [authorization, detail] of table) {
    assert.deepEqual(await told(me(authorization)), [401, { detail }, 'Bearer'], authorization)
  }
})

const TOKEN = 'fake-super-secret-token'
const KEY = 'fake-super-secret-key'
const NO_TOKEN = { detail: 'X-Token header invalid' }
const NO_KEY = { detail: 'X-Key header invalid' }

test('both secret headers open both paths', async () => {
  const headers = { 'x-token': TOKEN, 'X-KEY': KEY }
  await guarded({ path: '/items/', headers }, 200, [{ item: 'Portal Gun' }, { item: 'Plumbus' }])
  await guarded({ path: '/users/', headers }, 200, [{ username: 'Rick' }, { username: 'Morty' }])
})

test('a wrong header is named, X-Token first; exactly the value counts', async () => {
  const cases = [
    [{ 'X-Token': 'x', 'X-Key': KEY }, NO_TOKEN],
    [{ 'X-Token': '', 'X-Key': KEY }, NO_TOKEN],
    [{ 'X-Token': TOKEN.toUpperCase(), 'X-Key': KEY }, NO_TOKEN],
    [{ 'X-Token': `${TOKEN}x`, 'X-Key': KEY }, NO_TOKEN],
    [{ 'X-Token': TOKEN, 'X-Key': 'x' }, NO_KEY],
    [{ 'X-Token': 'x', 'X-Key': 'x' }, NO_TOKEN],
    [{ 'X-Token': 'x' }, NO_TOKEN],
    [{ 'X-Key': 'x' }, NO_KEY],
  ] as const
  for (const path of ['/items/', '/users/']) {
    for (const [headers, body] of cases) await guarded({ path, headers: { ...headers } }, 400, body)
    await guarded({ path, headers: { 'X-Token': TOKEN } }, 422, missing(['header', 'x-key']))
  }
})

test('a password hash is salted, and only its password fits', async () => {
  const [first, second] = await Promise.all([hashPassword('pässword'), hashPassword('pässword')])
  assert.notEqual(first, second)
  assert.equal(PASSWORD_HASH.test(first), true)
  assert.equal(await verifyPassword('pässword', first), true)
  assert.equal(await verifyPassword('passwort', first), false)
  for (const text of ['secret', first.slice(1), `${first}=`, first.replace('$', '')])
    assert.equal(PASSWORD_HASH.test(text), false, text)
})

test('an unknown user costs a hash like a known one', async () => {
  assert.equal(PASSWORD_HASH.test(DECOY), true)
  assert.equal(await verifyPassword('', DECOY), false)
})
