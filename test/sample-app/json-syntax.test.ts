import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSyntaxProblem, nestingDepth } from '../../sample-app/wire/json-syntax.ts'
import { toJson } from '../../sample-app/wire/json-text.ts'

const TABLE: readonly (readonly [text: string, offset: number, expected: string])[] = [
  ['', 0, 'Expecting value'],
  ['nul', 0, 'Expecting value'],
  ['-', 0, 'Expecting value'],
  ['{', 1, 'Expecting property name enclosed in double quotes'],
  ["{'a':1}", 1, 'Expecting property name enclosed in double quotes'],
  ['{"a":1,}', 7, 'Expecting property name enclosed in double quotes'],
  ['{"a" 1}', 5, "Expecting ':' delimiter"],
  ['{"a":}', 5, 'Expecting value'],
  ['{"a":1 "b":2}', 7, "Expecting ',' delimiter"],
  ['[1 2]', 3, "Expecting ',' delimiter"],
  ['[1,]', 3, 'Expecting value'],
  ['[1', 2, "Expecting ',' delimiter"],
  ['01', 1, 'Extra data'],
  ['1.', 1, 'Extra data'],
  ['{} {}', 3, 'Extra data'],
  ['["abc', 1, 'Unterminated string starting at'],
  ['"abc\\', 0, 'Unterminated string starting at'],
  ['"a\nb"', 2, 'Invalid control character at'],
  ['"a\\qb"', 2, 'Invalid \\escape'],
  ['"a\\u12g4"', 3, 'Invalid \\uXXXX escape'],
  ['NaN', 0, 'Expecting value'],
]

test('what is wrong with a text, and where', () => {
  for (const [text, offset, expected] of TABLE) assert.deepEqual(findSyntaxProblem(text), { offset, expected }, text)
})

test('finds a problem exactly where JSON.parse does', () => {
  const alphabet = [...'{}[]:,"\\ \n-+.0123eEtrufalsn', '"a"', 'true', '\\u00e9', '\u0001', '😀']
  let seed = 42
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  let valid = 0
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: 1 + random(6) }, () => alphabet[random(alphabet.length)]).join('')
    const parses = isJson(text)
    valid += Number(parses)
    assert.equal(findSyntaxProblem(text) === undefined, parses, JSON.stringify(text))
  }
  assert.ok(valid > 100)
})

test('depth counts brackets outside of strings', () => {
  assert.equal(nestingDepth('[{"a":[]},"[[[["]'), 3)
  assert.equal(nestingDepth(String.raw`["\"[["]`), 1)
  assert.equal(nestingDepth('1'), 0)
})

test('JSON is written like JSON.stringify does, and bigints as they are', () => {
  const value = { a: [1, 'é\u2028"', null, true, { b: undefined, c: -0.5 }], __proto__: 1, d: {}, e: [] }
  assert.equal(toJson(value), JSON.stringify(value))
  assert.equal(toJson({ n: 12345678901234567890123n }), '{"n":12345678901234567890123}')
  assert.equal(toJson(JSON.parse('{"__proto__":{"a":1}}')), '{"__proto__":{"a":1}}')
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    assert.ok(error instanceof SyntaxError)
    return false
  }
}
