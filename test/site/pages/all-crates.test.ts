import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listData, listPage, ORDERED_MAX, orderedPages } from '../../../site/pages/all-crates.ts'
import { card, version } from '../../support/demo-facts.ts'
import { demoFacts } from '../../support/demo-site.ts'

const site = demoFacts('https://crates.example.com/team')
const cards = (names: readonly string[]) => names.map(name => card(version({ name })))

test('a registry with up to 1,000 crates has no pages by letters', () => {
  const names = Array.from({ length: ORDERED_MAX }, (_, at) => `a${at}`)
  assert.deepEqual(listData(cards(names)), [])
})

test('pages by letters have at most 200 crates, and each crate is on one', () => {
  const names = Array.from({ length: 1500 }, (_, at) => `${at % 3 === 0 ? 'Net' : 'io'}-${at}`)
  const tiers = listData(cards(names))
  assert.equal(
    tiers.reduce((sum, tier) => sum + tier.crates.length, 0),
    1500,
  )
  assert.ok(tiers.every(tier => tier.crates.length <= 200))
  // All begin with `io_` and `net_`: the letters between have no pages.
  assert.deepEqual(
    tiers[0]?.parts.map(({ prefix, total }) => [prefix, total]),
    [
      ['io_', 1000],
      ['net_', 500],
    ],
  )
  assert.ok(tiers.slice(1).every(({ above }) => above[0] === '' && above[1] !== 'i'))
})

test('a page that is too long names the crate called like its prefix, and leads on', () => {
  const many = Array.from({ length: 1201 }, (_, at) => `abc${at}`)
  const tiers = listData(cards(['Ab', 'b', 'a', ...many]))
  assert.deepEqual(
    tiers.slice(0, 4).map(({ prefix, total, crates, parts, above }) => {
      const next = parts.map(part => `${part.prefix} ${part.total}`)
      return [prefix, total, crates.map(crate => crate.name), next.slice(0, 2), above]
    }),
    [
      ['', 1204, [], ['a 1203', 'b 1'], []],
      ['a', 1203, ['a'], ['ab 1202'], ['']],
      ['ab', 1202, ['Ab'], ['abc 1201'], ['', 'a']],
      ['abc', 1201, [], ['abc0 1', 'abc1 312'], ['', 'a', 'ab']],
    ],
  )
  const last = tiers.at(-1)
  assert.ok(last)
  assert.deepEqual([last.prefix, last.total, last.parts], ['b', 1, []])
  assert.match(listPage(site, last).bytes.toString(), /<h1>Crates: b…<\/h1>/)
})

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
  assert.match(second, /<a href="dependents\.html">Most dependents</)
  assert.match(second, /<a href="\.\.\/crates\/" aria-current="page">Name</)
  const [some] = orderedPages(site, { ...list, order: 'newest' }, 20_000, orders)
  assert.match(some?.bytes.toString() ?? '', /The 250 of 20,000 crates that are new\./)
})
