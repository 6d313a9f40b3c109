import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badgePath } from '../../../core/paths/crates.ts'
import { categoryPath, keywordPath, userPath } from '../../../core/paths/listings.ts'

const keywords: [keyword: string, path: string | null][] = [
  ['serde', 'keywords/serde/index.html'],
  ['No_STD', 'keywords/no_std/index.html'],
  ['c++', 'keywords/c++/index.html'],
  ['NUL', 'keywords/_nul~/index.html'],
  ['nul_', 'keywords/nul_/index.html'],
  ['index', 'keywords/index/index.html'],
]
for (const [keyword, path] of keywords) {
  test(`the keyword ${keyword}`, () => assert.equal(keywordPath(keyword), path))
}

const hostile = ['', '.', '..', 'a/b', 'a\\b', 'a b', 'a:b', 'ä', '-a', 'a.html', 'a\0', 'a%2f']
for (const text of [...hostile, 'a'.repeat(65), '\u202e', '<b>']) {
  test(`${JSON.stringify(text)} is no folder`, () => {
    assert.equal(keywordPath(text), null)
    assert.equal(categoryPath(text), null)
    assert.equal(categoryPath(`science::${text}`), null)
  })
}

const categories: [slug: string, path: string | null][] = [
  ['no-std', 'categories/no-std/index.html'],
  ['Science::Robotics', 'categories/science/robotics/index.html'],
  ['science::aux', 'categories/science/_aux~/index.html'],
  ['a::b::c::d::e', null],
  ['science:robotics', null],
]
for (const [slug, path] of categories) {
  test(`the category ${slug}`, () => assert.equal(categoryPath(slug), path))
}

test('usernames that differ have pages that differ', () => {
  const logins = ['mara', 'con', 'con.', 'con._', 'bob.', 'bob', 'a.html', 'a.htm', 'a', 'a-.']
  const paths = logins.map(userPath)
  assert.equal(new Set(paths).size, logins.length)
  assert.equal(userPath('Mara'), 'users/mara/index.html')
  for (const path of paths) assert.doesNotMatch(path, /\.(?:html?)?\/|\/(?:con)[./]/)
})

test('a badge is beside the page of its crate', () => {
  assert.equal(badgePath('serde'), 'crates/serde/badge.svg')
})
