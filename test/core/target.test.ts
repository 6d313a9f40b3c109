import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTarget, printTarget } from '../../core/target.ts'
import { frugally } from '../support/processor-time.ts'

// Each of them was read by `cargo metadata` of Cargo 1.95 and 1.97, as the key of a `[target]` table.
const READABLE = [
  ...['x86_64-unknown-linux-gnu', '', 'a.json', 'ä-x', '½', 'cfg', 'cfg(unix)', 'cfg( unix )'],
  ...['cfg(_a1)', 'cfg(a = "b")', 'cfg(a="b c\\d")', 'cfg(a="ä\n")', 'cfg(all())'],
  ...['cfg(any(a,))', 'cfg(not (a))', 'cfg(all(unix,not(any(a="1",b="2",)),))', 'cfg(r)'],
  ...['cfg(r = "1")', 'cfg(r#all)', 'cfg(r#all = "x")', 'cfg(not(r#not))', 'cfg(true)'],
  ...['cfg(r#true)', 'cfg(not(true = "x"))', 'cfg(async)'],
]

const UNREADABLE = [
  ...['a b', 'a+b', 'a/b', 'a(b', 'a\u0301', 'cfg(', 'cfg()', ' cfg(unix)', 'cfg(unix) '],
  ...['cfg (unix)', 'CFG(unix)', 'cfg(\tunix)', 'cfg(ä)', 'cfg(1a)', 'cfg(a-b)', 'cfg(a))'],
  ...['cfg((a))', 'cfg(a,b)', 'cfg(=)', 'cfg("a")', 'cfg(a=b)', 'cfg(a=="b")', 'cfg(a="b)'],
  ...['cfg(a = "b" c)', 'cfg(all)', 'cfg(all = "x")', 'cfg(all(a)(b))', 'cfg(any(,))'],
  ...['cfg(any(a b))', 'cfg(any(a)) )', 'cfg(not())', 'cfg(not(a,))', 'cfg(not(a, b))'],
  ...['cfg(r#)', 'cfg(r#1)', 'cfg(r#r#a)', 'cfg(xr#y)'],
]

test('targets are read as Cargo reads them', () => {
  for (const text of READABLE) assert.ok(isTarget(text), JSON.stringify(text))
  for (const text of UNREADABLE) assert.ok(!isTarget(text), JSON.stringify(text))
})

/** Those that Cargo 1.95 prints in another way than they are written. */
const PRINTED = new Map([
  ['cfg( unix )', 'cfg(unix)'],
  ['cfg(a="b c\\d")', 'cfg(a = "b c\\d")'],
  ['cfg(a="ä\n")', 'cfg(a = "ä\n")'],
  ['cfg(any(a,))', 'cfg(any(a))'],
  ['cfg(not (a))', 'cfg(not(a))'],
  ['cfg(all(unix,not(any(a="1",b="2",)),))', 'cfg(all(unix, not(any(a = "1", b = "2"))))'],
])

test('targets are printed as Cargo prints them', () => {
  for (const text of READABLE) {
    const printed = printTarget(text)
    assert.equal(printed, PRINTED.get(text) ?? text)
    assert.equal(printTarget(printed), printed)
  }
  for (const text of UNREADABLE) assert.doesNotThrow(() => printTarget(text), text)
})

test('a target is nested at most 64 levels deep', () => {
  for (const word of ['not', 'any', 'all']) {
    const nested = (levels: number) => `cfg(${`${word}(`.repeat(levels)}unix${')'.repeat(levels)})`
    assert.ok(isTarget(nested(64)), word)
    assert.ok(!isTarget(nested(65)), word)
    assert.ok(!isTarget(nested(3000)), word)
    assert.ok(!isTarget(nested(60_000)), word)
  }
})

test('a target has at most 16,384 characters, which are read in a moment', () => {
  const wide = (length: number) => `cfg(any(${'a,'.repeat(length)}))`
  assert.ok(frugally(() => isTarget(wide(8187))))
  assert.ok(!isTarget(wide(8188)))
  assert.ok(!frugally(() => isTarget(`cfg(${'"'.repeat(16_001)})`)))
  assert.ok(!frugally(() => isTarget(`cfg(${'r#'.repeat(8000)})`)))
})
