import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderedPages } from '../../../site/pages/all-crates.ts'
import { card, demoFacts, version } from '../../support/demo-facts.ts'

const site = demoFacts('https://crates.example.com/team')
const cards = (names: readonly string[]) => names.map(name => card(version({ name })))

test('a list in an order has pages, links to the others, and says which crates it shows', () => {
  const names = Array.from({ length: 250 }, (_, at) => `${at < 150 ? 'a' : 'b'}${at}`)
  const orders = ['name', 'dependents', 'newest'] as const
  const list = { order: 'name', crates: cards(names) } as const
  const pages = [...orderedPages(site, list, 250, orders)]
  assert.deepEqual(
    pages.map(page => page.path),
    ['crates/index.html', 'lists/name-2.html', 'lists/name-3.html'],
  )
  const [first = '', second = ''] = pages.map(page => page.bytes.toString())
  assert.equal(first.match(/class="card"/g)?.length, 100)
  assert.match(first, /<a href="\.\.\/lists\/name-2\.html#letter-b">b</)
  assert.match(second, /<h2 class="letter" id="letter-b">b</)
  assert.match(second, /<a href="dependents\.html">Most depended on</)
  assert.match(second, /<a href="\.\.\/crates\/" aria-current="page">Name</)
  const [some] = orderedPages(site, { ...list, order: 'newest' }, 20_000, orders)
  assert.match(some?.bytes.toString() ?? '', /The 250 of 20,000 crates that are new\./)
})
