import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJson } from '../../sample-app/ask/json-body.ts'

const TABLE: readonly (readonly [text: string, offset: number])[] = [
  ['nul', 0],
  ['-', 0],
  ['{', 1],
  ["{'a':1}", 1],
  ['{"a":1,}', 7],
  ['{"a" 1}', 5],
  ['{"a":}', 5],
  ['{"a":1 "b":2}', 7],
  ['[1 2]', 3],
  ['[1,]', 3],
  ['[1', 2],
  ['01', 1],
  ['1.', 0],
  ['{} {}', 3],
  ['["abc', 1],
  ['"abc\\', 0],
  ['"a\nb"', 0],
  ['"a\\qb"', 0],
  ['"a\\u12g4"', 0],
  ['NaN', 0],
]

/** What is objected to in this text, read as JSON. */
async function read(text: string) {
  return readJson(new Blob([text]).stream(), 'application/json')
}

test('what is not JSON is told with its place', async () => {
  for (const [text, offset] of TABLE) {
    const problem = await read(text)
    assert.ok('type' in problem, text)
    assert.deepEqual([problem.type, problem.loc], ['json_invalid', ['body', offset]], text)
  }
})

test('finds a problem exactly where JSON.parse does', async () => {
  const alphabet = [...'{}[]:,"\\ \n-+.0123eEtrufalsn', '"a"', 'true', '\\u00e9', '\u0001', '😀']
  let seed = 42
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  for (let round = 0; round < 5_000; round += 1) {
    const text = Array.from(
      { length: 1 + random(6) },
      () => alphabet[random(alphabet.length)],
    ).join('')
    const found = await read(text)
    assert.equal('value' in found, isJson(text), JSON.stringify(text))
    if ('type' in found) assert.ok(Number(found.loc[1]) <= [...text].length, JSON.stringify(text))
  }
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
