import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../sample-app/ask/ask.ts'
import { integer } from '../../sample-app/examples/path/path-params-int.ts'
import { float } from '../../sample-app/examples/path/path-validation-float.ts'
import { boolean } from '../../sample-app/examples/query/query-mixed.ts'
import { refused } from './support/refused.ts'
import { served } from './support/serving.ts'

const KINDS = {
  int: integer,
  float: v.pipe(float, v.finite()),
  bool: boolean,
  pattern: v.pipe(v.string(), v.regex(/[0-9]$/)),
  length: v.pipe(v.string(), v.minCodePoints(1), v.maxCodePoints(2)),
}
const routes = new Hono()
for (const [kind, value] of Object.entries<v.GenericSchema>(KINDS)) {
  routes.get(`/${kind}`, ask({ query: { value } }), c => c.json(c.var.query.value))
}
const probe = served(routes)

async function send(kind: string, value: string) {
  const response = await probe.request(`/${kind}?value=${encodeURIComponent(value)}`)
  return { status: response.status, text: await response.text() }
}

async function accepts(kind: string, value: string, written: string): Promise<void> {
  assert.deepEqual(await send(kind, value), { status: 200, text: written }, JSON.stringify(value))
}

async function refuses(
  kind: string,
  value: string,
  type: string,
  msg: string,
  ctx?: object,
): Promise<void> {
  const expected = refused(type, ['query', 'value'], msg, value, ctx)
  const { status, text } = await send(kind, value)
  assert.deepEqual(
    { status, json: JSON.parse(text) },
    { status: 422, json: expected },
    JSON.stringify(value),
  )
}

test('an integer is an optional sign and decimal digits; blanks around it are ignored', async () => {
  const table = { '5': '5', ' 5 ': '5', '\t5\n': '5', '+5': '5', '-5': '-5', '007': '7', '-0': '0' }
  for (const [value, written] of Object.entries(table)) await accepts('int', value, written)
})

test('an integer is nothing of what Number() takes besides', async () => {
  const msg = 'Input should be a valid integer, unable to parse string as an integer'
  const wrong = [
    '',
    ' ',
    '5.',
    '.0',
    '5.5',
    '5.0',
    '1e3',
    '0x10',
    '0b1',
    '1,000',
    '1_000',
    '--5',
    '+-5',
    '- 5',
    '_1',
    '1__0',
  ]
  for (const value of [...wrong, 'true', 'NaN', 'Infinity', '٥', '５'])
    await refuses('int', value, 'int_parsing', msg)
})

test('an integer beyond 2^53 comes back digit for digit', async () => {
  const large = [
    '9007199254740991',
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890123',
    '9'.repeat(4300),
  ]
  for (const value of large) await accepts('int', value, value)
})

test('an integer has at most 4300 digits, not counting zeros in front', async () => {
  const msg = 'Unable to parse input string as an integer, exceeded maximum size'
  await refuses('int', '1'.repeat(4301), 'int_parsing_size', msg)
  await refuses('int', `-${'1'.repeat(5000)}`, 'int_parsing_size', msg)
  await accepts('int', `${'0'.repeat(5000)}1`, '1')
})

test('a number has a fraction and an exponent', async () => {
  const table = {
    '.5': '0.5',
    '5.': '5',
    '1e1': '10',
    '1E-1': '0.1',
    ' 1.5 ': '1.5',
    '+2': '2',
    '-0.5': '-0.5',
  }
  for (const [value, written] of Object.entries(table)) await accepts('float', value, written)
})

test('a number is nothing else', async () => {
  const msg = 'Input should be a valid number, unable to parse string as a number'
  const wrong = ['', ' ', '.', '0x1', '1,5', '1e', 'e1', '_1', '1_0', '--1', '1 2', 'true', 'abc']
  for (const value of wrong) await refuses('float', value, 'float_parsing', msg)
})

test('a number that JSON has no way to write is refused', async () => {
  const values = ['inf', '-inf', 'Infinity', '+INFINITY', 'nan', 'NaN', '-nan', '1e999']
  for (const value of values)
    await refuses('float', value, 'finite_number', 'Input should be a finite number')
})

test('yes and no have twelve spellings, in any letter case', async () => {
  for (const value of ['1', 'true', 't', 'yes', 'y', 'on', 'TRUE', 'Yes', 'oN'])
    await accepts('bool', value, 'true')
  for (const value of ['0', 'false', 'f', 'no', 'n', 'off', 'False', 'OFF'])
    await accepts('bool', value, 'false')
})

test('any other spelling of yes and no is an error', async () => {
  const msg = 'Input should be a valid boolean, unable to interpret input'
  const wrong = ['', '2', '1.0', 'null', ' true', 'true ', 'maybe', 'constructor', '__proto__']
  for (const value of wrong) await refuses('bool', value, 'bool_parsing', msg)
})

test('length counts code points', async () => {
  await accepts('length', '😀😀', '"😀😀"')
  const long = 'String should have at most 2 characters'
  await refuses('length', '😀😀😀', 'string_too_long', long, { max_length: 2 })
  await refuses('length', '', 'string_too_short', 'String should have at least 1 character', {
    min_length: 1,
  })
})

test('a pattern is searched for; its $ is the very end', async () => {
  await accepts('pattern', 'abc1', '"abc1"')
  const msg = "String should match pattern '[0-9]$'"
  for (const value of ['1a', '1\n'])
    await refuses('pattern', value, 'string_pattern_mismatch', msg, { pattern: '[0-9]$' })
})
