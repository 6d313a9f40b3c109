import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  compareFragment,
  fileFragment,
  readCompareAddress,
  readFileAddress,
} from '../../../site/source/address.ts'

test('a fragment names a file and its lines', () => {
  const cases: [fragment: string, path: string, from?: number, to?: number][] = [
    ['#src/lib.rs', 'src/lib.rs'],
    ['#src/lib.rs:L3', 'src/lib.rs', 3, 3],
    ['#src/lib.rs:L3-L9', 'src/lib.rs', 3, 9],
    ['#src/lib.rs:L9-L3', 'src/lib.rs', 3, 9],
    ['#a%20b:L1', 'a b', 1, 1],
    ['#a:b', 'a:b'],
    ['#100%', '100%'],
    ['#a:L0', 'a:L0'],
  ]
  for (const [fragment, path, from = null, to = null] of cases) {
    const lines = from === null || to === null ? null : [from, to]
    assert.deepEqual(readFileAddress(fragment), { path, lines }, fragment)
  }
  assert.equal(readFileAddress(''), null)
  assert.equal(fileFragment({ path: 'src/a b#?.rs', lines: [3, 9] }), '#src/a%20b%23%3F.rs:L3-L9')
  assert.equal(fileFragment({ path: 'a', lines: [3, 3] }), '#a:L3')
})

test('a fragment names two versions, and perhaps a file', () => {
  assert.deepEqual(readCompareAddress('#1.0.0...1.1.0-rc.1+b'), {
    from: '1.0.0',
    to: '1.1.0-rc.1+b',
    path: null,
  })
  assert.deepEqual(readCompareAddress('#1.0.0...2.0.0:src/a%20b:c.rs'), {
    from: '1.0.0',
    to: '2.0.0',
    path: 'src/a b:c.rs',
  })
  for (const none of ['', '#', '#1.0.0', '#1.0.0...', '#...1.0.0'])
    assert.equal(readCompareAddress(none), null, none)
})

test('what was written is read', () => {
  const path = fc.string({ minLength: 1, unit: 'binary' }).filter(path => !/:L\d+$/.test(path))
  fc.assert(
    fc.property(path, fc.integer({ min: 1, max: 1e6 }), (path, line) => {
      const whole = { path, lines: null }
      assert.deepEqual(readFileAddress(fileFragment(whole)), whole)
      const range = { path, lines: [line, line + 5] as const }
      assert.deepEqual(readFileAddress(fileFragment(range)), range)
      const pair = { from: '1.0.0', to: '1.1.0', path }
      assert.deepEqual(readCompareAddress(compareFragment(pair)), pair)
    }),
  )
})
