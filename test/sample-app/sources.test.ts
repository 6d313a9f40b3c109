import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MULTIPART, multipart, URLENCODED } from './support/forms.ts'
import { answers, ask } from './support/serving.ts'

const withCookies = (Cookie: string | string[]) => ({ path: '/items/', headers: { Cookie } })

const COOKIES: readonly (readonly [sent: string, ads_id: string | null])[] = [
  ['x=1; ads_id=abc', 'abc'],
  ['ads_id=', ''],
  ['ads_id', null],
  ['ads_idx', null],
  ['ads_id=a; ads_id=b', 'b'],
  ['ads_id=a%20b', 'a%20b'],
  ['  ads_id  =  a b  ', 'a b'],
  ['ads_id="a b"', 'a b'],
  [String.raw`ads_id="a\"b\\c"`, 'a"b\\c'],
  ['ads_id="', '"'],
  ['ads_id=a=b', 'a=b'],
  ['ads_id=é', 'é'],
  ['Ads_id=a', null],
  ['ads-id=a', null],
  ['__proto__=a', null],
]

test('cookies: split, trimmed, unquoted, never percent-decoded, the last of a name wins', async () => {
  for (const [sent, ads_id] of COOKIES) await answers('cookies', withCookies(sent), 200, { ads_id })
})

test('query: + and %20 are spaces, ; separates nothing, q[] is another name, unknown names are ignored', async () => {
  const table = {
    'a+b': 'a b',
    'a%20b': 'a b',
    'a%2Bb': 'a+b',
    'a;b=c': 'a;b=c',
    '%zz': '%zz',
    '=': '=',
    '%26': '&',
  }
  for (const [written, value] of Object.entries(table)) {
    await answers('query-list', `/items/?q=${written}&unknown=1`, 200, { q: [value] })
  }
  await answers('query-list', '/items/?q[]=a&Q=b&=c&&', 200, { q: null })
  await answers('query-list', '/items/?%71=a', 200, { q: ['a'] })
})

test('names that objects have anyway are names like any other', async () => {
  await answers('query-list', '/items/?__proto__=1&constructor=2&toString', 200, { q: null })
  const headers = { constructor: 'x', Cookie: 'constructor=1; __proto__=2' }
  await answers('cookies', { path: '/items/', headers }, 200, { ads_id: null })
  await answers('headers', { path: '/items/', headers }, 200, {
    'User-Agent': null,
    items_id: null,
  })
})

test('present but empty: a value in the query, in a header and in a cookie', async () => {
  await answers('query-required', '/items/a?needy=', 200, { item_id: 'a', needy: '' })
  await answers('query-required', '/items/a?needy', 200, { item_id: 'a', needy: '' })
  const { text } = await ask('headers', { path: '/items/', headers: { 'User-Agent': '' } })
  assert.equal(text, '{"User-Agent":"","items_id":null}')
})

test('headers: Latin-1, outer spaces trimmed, names in any case', async () => {
  const headers = { 'uSER-aGENT': '  caf\xe9 \t' }
  const { text } = await ask('headers', { path: '/items/', headers })
  assert.equal(text, '{"User-Agent":"café","items_id":null}')
})

test('headers: the literal name with an underscore is read when the other is absent', async () => {
  const both = { items_id: '7', 'items-id': '5' }
  for (const [headers, items_id] of [[{ items_id: '7' }, 7] as const, [both, 5] as const])
    await answers('headers', { path: '/items/', headers }, 200, { 'User-Agent': null, items_id })
})

test('a path, a query and headers of up to 64 KiB are read', async () => {
  const long = 'é'.repeat(10_000)
  const { status, text } = await ask('query-validation', `/items/?q=${encodeURIComponent(long)}`)
  assert.deepEqual([status, JSON.parse(text).detail[0].input], [422, long])
  const ads_id = 'a'.repeat(60_000)
  await answers('cookies', withCookies(`ads_id=${ads_id}`), 200, { ads_id })
  assert.equal((await ask('cookies', withCookies('a'.repeat(66_000)))).status, 431)
})

test('repeated scalars: the last value wins in a query, a cookie and a form', async () => {
  await answers('query-params', '/items/?limit=x&limit=1', 200, [{ item_name: 'Foo' }])
  await answers('cookies', withCookies(['ads_id=a', 'ads_id=b']), 200, { ads_id: 'b' })
  const fields: [string, string][] = [
    ['username', 'a'],
    ['password', 'x'],
    ['username', 'b'],
  ]
  const parts = multipart(fields.map(([name, value]) => ({ name, value })))
  const login = { method: 'POST', path: '/login/' }
  const body = new URLSearchParams(fields).toString()
  await answers('forms', { ...login, headers: URLENCODED, body }, 200, { username: 'b' })
  await answers('forms', { ...login, headers: MULTIPART, body: parts }, 200, { username: 'b' })
})

test('percent-decoding never fails, whatever the bytes', async () => {
  for (let byte = 0; byte < 256; byte += 1) {
    if (byte === 0x2f) continue
    const written = `%${byte.toString(16).padStart(2, '0')}`
    const item_id = Buffer.from([byte]).toString()
    await answers('path-params', `/items/a${written}b`, 200, { item_id: `a${item_id}b` })
  }
  for (const odd of ['%C3%A9%', '%4', '%4g%G4']) {
    await answers('path-params', `/items/${odd}`, 200, { item_id: odd.replace('%C3%A9', 'é') })
  }
})
