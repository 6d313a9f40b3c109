import assert from 'node:assert/strict'
import { test } from 'node:test'
import { categoryTitle } from '../../../core/category.ts'
import { labelPage, labelsPage, userPage } from '../../../site/pages/labels.ts'
import { card, demoConfig, version } from '../../support/demo-config.ts'

const site = demoConfig('https://crates.example.com/team')
const crates = [card(version({ name: 'keel' }))]

test('a keyword has a page where its name is a path', () => {
  const data = { kind: 'keyword', slug: 'c++', below: [], crates } as const
  const page = labelPage(site, { ...data, total: 1 })
  assert.equal(page?.path, 'keywords/c++/index.html')
  assert.match(`${page.bytes}`, /1 crate\. <a href="\.\.\/\.\.\/search\/\?keyword=c%2B%2B"/)
  assert.equal(labelPage(site, { ...data, slug: '../x', total: 1 }), null)
})

test('categories are a tree with titles', () => {
  const slugs = ['web-programming::http-server', 'wasm', 'own-thing', 'web-programming', 'x y']
  const page = labelsPage(
    site,
    'category',
    slugs.map(slug => ({ slug, crates: 2 })),
  )
  const text = page.bytes.toString().replaceAll('\n', '')
  assert.match(
    text,
    /Own thing .*WebAssembly .*Web programming <span class="quiet">2<\/span><\/a><ul/,
  )
  assert.match(text, /<a href="web-programming\/http-server\/">HTTP server <span/)
  assert.doesNotMatch(text, /x y/)
  const science = { kind: 'category', slug: 'science', total: 1, crates } as const
  const below = [{ slug: 'science::robotics', crates: 1 }]
  const parent = labelPage(site, { ...science, below })?.bytes.toString() ?? ''
  assert.match(parent, /<a href="robotics\/">Robotics <span/)
  const child = labelPage(site, { ...science, slug: 'science::robotics', below: [] })
  assert.match(child?.bytes.toString() ?? '', /<a href="\.\.\/">Science<.*<h1>Category: Robotics</s)
})

test('a title is never empty or HTML', () => {
  assert.deepEqual(['', '::', '-', 'gui', 'a::ffi'].map(categoryTitle), ['', '', ' ', 'GUI', 'FFI'])
  const page = labelsPage(site, 'keyword', [{ slug: '<script>', crates: 1 }])
  assert.doesNotMatch(page.bytes.toString(), /&lt;script|<script>/)
})

test('the page of a user says whether it shows all crates', () => {
  const user = { login: 'Ada.', name: 'Ada <b>', crates }
  const page = userPage(site, { ...user, hasMore: false })
  assert.equal(page.path, 'users/_ada.~/index.html')
  assert.match(page.bytes.toString(), /Ada &lt;b&gt;<.*Owner of 1 crate\./s)
  assert.match(userPage(site, { ...user, hasMore: true }).bytes.toString(), /The newest 1 of/)
})
