import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from './support/refused.ts'
import { answering, ask } from './support/serving.ts'

const gives = answering('body')
const BODY_LIMIT = 1024 * 1024
const NESTING_LIMIT = 512
const NAME = 'Unnamed item'
const MODEL = 'Input should be a valid dictionary or object to extract fields from'
const NUMBER = 'Input should be a valid number, unable to parse string as a number'

/** An item of which only the price was given. */
const priced = (price: unknown) => ({ name: NAME, description: null, price, tax: null })
const noModel = (input: unknown) => refused('model_attributes_type', ['body'], MODEL, input)

function post(body: string | Uint8Array, type: string | undefined = 'application/json') {
  return {
    method: 'POST',
    path: '/items/',
    body,
    headers: type === '' ? {} : { 'Content-Type': type },
  }
}

test('all four fields are echoed, nulls included; unknown keys are dropped, the last duplicate wins', async () => {
  const full = { name: 'Foo', description: 'd', price: 50.2, tax: 3.2 }
  await gives(post(JSON.stringify(full)), 200, full)
  await gives(post('{"price":1}'), 200, priced(1))
  const body = '{"Price":7,"price":1,"price":2,"constructor":3,"__proto__":{"name":"x"},"tax":null}'
  await gives(post(body), 200, priced(2))
})

test('a price may be text or a truth value', async () => {
  const table = {
    '" 50.5 "': 50.5,
    '"1e1"': 10,
    true: 1,
    false: 0,
    '-0.5': -0.5,
    '12345678901234567890123': 1.2345678901234568e22,
  }
  for (const [written, price] of Object.entries(table))
    await gives(post(`{"price":${written}}`), 200, priced(price))
})

test('wrong types are named, all of them', async () => {
  const body = { name: null, description: 5, price: 'abc', tax: [] }
  const string = 'Input should be a valid string'
  await gives(post(JSON.stringify(body)), 422, {
    detail: [
      { type: 'string_type', loc: ['body', 'name'], msg: string, input: null },
      { type: 'string_type', loc: ['body', 'description'], msg: string, input: 5 },
      { type: 'float_parsing', loc: ['body', 'price'], msg: NUMBER, input: 'abc' },
      {
        type: 'float_type',
        loc: ['body', 'tax'],
        msg: 'Input should be a valid number',
        input: [],
      },
    ],
  })
  const msg = 'Input should be a valid number'
  for (const price of [null, [1], { a: 1 }]) {
    const expected = refused('float_type', ['body', 'price'], msg, price)
    await gives(post(JSON.stringify({ price })), 422, expected)
  }
})

test('a price that is not finite is refused', async () => {
  const msg = 'Input should be a finite number'
  await gives(post('{"price":1e999}'), 422, refused('finite_number', ['body', 'price'], msg, null))
  assert.equal((await ask('body', post('{"price":NaN}'))).status, 422)
})

test('an empty object misses one field, and is shown', async () => {
  await gives(post('{}'), 422, refused('missing', ['body', 'price'], 'Field required', {}))
})

test('anything but an object is refused', async () => {
  for (const body of ['null', ' null ', '[]', '"text"', '5', 'true', '[{"price":1}]'])
    await gives(post(body), 422, noModel(JSON.parse(body)))
})

test('JSON is what says so, in any case and with parameters', async () => {
  const types = [
    ...['application/json', 'APPLICATION/JSON', 'application/json; charset=utf-8'],
    ...['application/json;x', 'application/vnd.api+json', 'application/+json'],
  ]
  for (const type of types)
    assert.equal((await ask('body', post('{"price":1}', type))).status, 200, type)
})

test('any other type, or none, leaves the body as text', async () => {
  const forms = ['application/x-www-form-urlencoded', 'multipart/form-data']
  for (const type of ['', 'text/plain', 'application/jsonx', 'text/json', ...forms])
    await gives(post('{"price":1}', type), 422, noModel('{"price":1}'))
  await gives(post(Buffer.from([0xff, 0x41]), ''), 422, noModel('�A'))
})

test('what is refused is shown as it was received, with a byte order mark', async () => {
  const { text } = await ask('body', post('\uFEFF{"price":1}', 'text/plain'))
  assert.equal(JSON.parse(text).detail[0].input, '\uFEFF{"price":1}')
})

test('a long text is read as a number or refused as one', async () => {
  const [valid, wrong] = ['1'.repeat(BODY_LIMIT / 2), `${'1'.repeat(BODY_LIMIT / 2)}x`]
  for (const [price, type] of [
    [valid, 'finite_number'],
    [`0.${valid}`, undefined],
    [`1e${valid}`, 'finite_number'],
    [wrong, 'float_parsing'],
  ]) {
    const { status, text } = await ask('body', post(JSON.stringify({ price })))
    assert.equal(status, type === undefined ? 200 : 422)
    assert.equal(/"type":"(\w+)"/.exec(text)?.[1], type)
  }
})

test('a long text beside a long number is read', async () => {
  const { status } = await ask(
    'body',
    post(`{"name":"${'a'.repeat(BODY_LIMIT / 2)}","price":12345678901234567890}`),
  )
  assert.equal(status, 200)
})

test('bytes that are not UTF-8 are no JSON; a byte order mark is accepted', async () => {
  const { status, text } = await ask('body', post(Buffer.from('{"a":"\xff"}', 'latin1')))
  assert.deepEqual([status, JSON.parse(text).detail[0].type], [422, 'json_invalid'])
  assert.equal((await ask('body', post('\uFEFF{"price":1}'))).status, 200)
})

test('a lone surrogate comes back as it was sent', async () => {
  const { status, text } = await ask('body', post(String.raw`{"name":"\ud800","price":1}`))
  assert.equal(status, 200)
  assert.ok(text.includes(String.raw`"\ud800"`), text)
})

test('malformed JSON is told with its place in code points', async () => {
  const table = {
    '{some': 1,
    '{"price":1': 10,
    '{"price":1} x': 12,
    '{"name":"abc': 8,
    '   ': 3,
    '{"😀":1': 6,
  }
  for (const [body, offset] of Object.entries(table)) {
    const { status, text } = await ask('body', post(body))
    const { error } = JSON.parse(text).detail[0].ctx
    const expected = refused('json_invalid', ['body', offset], 'JSON decode error', {}, { error })
    assert.deepEqual([status, JSON.parse(text)], [422, expected], body)
    assert.equal(typeof error, 'string')
  }
})

test('brackets nested too deep are refused, also in what would be dropped', async () => {
  const nested = (depth: number) =>
    `{"price":1,"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  assert.equal((await ask('body', post(nested(NESTING_LIMIT)))).status, 200)
  for (const body of [nested(NESTING_LIMIT + 1), '['.repeat(1_000_000)]) {
    const { status, text } = await ask('body', post(body))
    assert.deepEqual([status, JSON.parse(text).detail[0].type], [422, 'json_invalid'])
  }
})
