import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedKeys, purgeKeys } from '../../../core/paths/purge-keys.ts'

const KEYS: readonly [path: string, keys: string][] = [
  ['index/fo/o-/foo-bar', 'index-foo_bar crate-foo_bar index'],
  ['index/1/a', 'index-a crate-a index'],
  ['index/config.json', 'site'],
  ['crates/Foo-Bar/Foo-Bar-1.0.0+a.crate', 'package-foo_bar crate-foo_bar package'],
  ['crates/Foo-Bar', 'pages-foo_bar crate-foo_bar pages'],
  ['crates/Foo-Bar/', 'pages-foo_bar crate-foo_bar pages'],
  ['crates/Foo-Bar/crate.json', 'pages-foo_bar crate-foo_bar pages'],
  ['crates/Foo-Bar/1.0.0/', 'pages-foo_bar crate-foo_bar pages'],
  ['crates/Foo-Bar/latest/', 'pages-foo_bar crate-foo_bar pages'],
  ['crates/Foo-Bar/1.0.0/src/lib.rs.html', 'source-foo_bar crate-foo_bar source'],
  ['crates/Foo-Bar/1.0.0/changes/', 'source-foo_bar crate-foo_bar source'],
  ['crates/Foo-Bar/compare/1.0.0...1.1.0', 'source-foo_bar crate-foo_bar source'],
  ['api/v1/crates/Foo-Bar', 'pages-foo_bar crate-foo_bar api'],
  ['api/v1/crates/foo_bar/1.0.0/dependencies', 'pages-foo_bar crate-foo_bar api'],
  ['api/v1/crates/foo_bar/1.0.0/download', 'package-foo_bar crate-foo_bar package'],
  ['api/v1/crates', 'search'],
  ['api/v1/summary', 'site'],
  ['search/terms/4/7.json', 'search'],
  ['search/', 'search'],
  ['keywords/json/index.html', 'lists'],
  ['crates/', 'lists'],
  ['crates/index.html', 'lists'],
  ['crates/index-ab.html', 'lists'],
  ['crates/index/index.html', 'pages-index crate-index pages'],
  ['', 'site'],
  ['index.html', 'site'],
  ['feeds/updates.xml', 'site'],
  ['index.git/info/refs', ''],
  ['assets/style-0123.css', ''],
  [`crates/demo/1.0.0/images/ab${'0'.repeat(62)}.png`, 'pages-demo crate-demo pages'],
]

test('every path has the keys of its crate, the narrowest first, or that of its group', () => {
  for (const [path, keys] of KEYS) assert.equal(purgeKeys(path).join(' '), keys, path)
})

test('keys have only letters that every CDN takes in a header and in an address', () => {
  for (const [path] of KEYS)
    for (const key of purgeKeys(path)) assert.match(key, /^[a-z][a-z0-9_-]{0,71}$/)
})

test('a change purges the narrowest key, and never a .crate that is still there', () => {
  const path = 'crates/demo/demo-1.0.0.crate'
  assert.deepEqual(changedKeys('index/de/mo/demo', null), ['index-demo'])
  assert.deepEqual(changedKeys('crates/demo/1.0.0/src/index.html', null), ['source-demo'])
  assert.deepEqual(changedKeys('search/layout.json', null), ['search'])
  assert.deepEqual(changedKeys(path, null), [])
  assert.deepEqual(changedKeys(path, 'file'), ['package-demo'])
  assert.deepEqual(changedKeys('crates/demo', 'folder'), ['crate-demo'])
  assert.deepEqual(changedKeys('crates/demo/1.0.0', 'folder'), ['pages-demo', 'source-demo'])
  assert.deepEqual(changedKeys('crates/demo/1.0.0/src', 'folder'), ['source-demo'])
  assert.deepEqual(changedKeys('search/terms/4', 'folder'), ['search'])
})
