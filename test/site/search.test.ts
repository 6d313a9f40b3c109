import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchEntry } from '../../site/search/entry.ts'
import { Lookup } from '../../site/search/lookup.ts'
import { parseQuery, rank } from '../../site/search/rank.ts'
import { searchFiles } from '../../site/search/shards.ts'
import { findTier, layoutOf, tierFile, tiers } from '../../site/search/tiers.ts'
import { inventedEntries } from '../support/many-crates.ts'

function entry(name: string, description = '', keywords: string[] = [], yanked = false): SearchEntry {
  return { name, version: '1.0.0', description, keywords, yanked }
}

const crates = [
  entry('serde', 'A generic serialisation framework'),
  entry('serde_json', 'Reads and writes JSON', ['json', 'serde']),
  entry('Serde-Yaml', 'Reads and writes YAML'),
  entry('json', 'Another reader'),
  entry('fast-json', 'Very quick'),
  entry('rapid', 'Reads JSON quickly', ['parser']),
  entry('tree', 'Trees of anything', ['json']),
  entry('json-old', 'A reader of JSON that nobody should use', [], true),
  entry('constructor', 'A name with a meaning elsewhere'),
  entry('für-nichts', 'Größe über alles'),
]

const queries: [query: string, names: string[]][] = [
  ['json', ['json', 'fast-json', 'serde_json', 'tree', 'rapid', 'json-old']],
  ['JSON', ['json', 'fast-json', 'serde_json', 'tree', 'rapid', 'json-old']],
  ['serde', ['serde', 'serde_json', 'Serde-Yaml']],
  ['serde-json', ['serde_json']],
  ['serde json', ['serde_json']],
  ['serde_yaml', ['Serde-Yaml']],
  ['ser', ['serde', 'serde_json', 'Serde-Yaml']],
  ['json read', ['json', 'rapid', 'serde_json', 'json-old']],
  ['json reads', ['rapid', 'serde_json']],
  ['a reader of json', ['json', 'json-old']],
  ['quick', ['rapid', 'fast-json']],
  ['constructor', ['constructor']],
  ['größe', ['für-nichts']],
  ['__proto__', []],
  ['nothing', []],
  ['   ', []],
  ['%', []],
]

for (const [query, names] of queries) {
  test(`search for “${query}”`, async () => {
    assert.deepEqual(
      rank(parseQuery(query), crates).map(one => one.name),
      names,
    )
    const { crates: found } = await lookup(crates).find(query, 50)
    assert.deepEqual(
      found.map(one => one.name),
      names,
    )
  })
}

test('shards do not depend on the order of the entries', () => {
  assert.deepEqual([...searchFiles(crates)], [...searchFiles([...crates].reverse())])
})

test('an empty registry has a search, too', async () => {
  assert.deepEqual(await lookup([]).find('x', 10), { crates: [], more: false })
})

test('with 20,000 crates a search loads little and finds the best', async () => {
  const entries = inventedEntries(20_000)
  const files = new Map([...searchFiles(entries)].map(file => [file.path, file.body.toString()]))
  for (const query of ['s', 'ser', entries[77]?.name ?? '', entries[4000]?.name.slice(0, 6) ?? '', 'http']) {
    const loaded: string[] = []
    const found = await lookupIn(files, loaded).find(query, 8)
    const best = rank(parseQuery(query), entries).slice(0, 8)
    const missing = best.filter(one => !found.crates.some(other => other.name === one.name))
    assert.ok(missing.length <= 1, `${query}: ${missing.map(one => one.name)}`)
    assert.equal(found.crates[0]?.name, best[0]?.name)
    const bytes = loaded.reduce((sum, path) => sum + (files.get(path)?.length ?? 0), 0)
    assert.ok(bytes < 250_000, `${query}: ${bytes} bytes in ${loaded.length} files`)
  }
  const longest = Math.max(...[...files.values()].map(text => text.length))
  assert.ok(longest < 100_000, `${longest} bytes in one shard`)
})

test('a very common word does not hide a crate that a rarer one finds', async () => {
  const common = Array.from({ length: 2500 }, (_, at) => entry(`crate-${at}`, 'x', ['common']))
  const { crates: found } = await lookup([...common, entry('a-long-name-for-a-needle', 'common and special')]).find(
    'common special',
    8,
  )
  assert.deepEqual(
    found.map(one => one.name),
    ['a-long-name-for-a-needle'],
  )
})

test('a new crate changes few shards', () => {
  const entries = inventedEntries(5000)
  const before = new Map([...searchFiles(entries)].map(file => [file.path, file.body]))
  const after = [...searchFiles([...entries, entry('zulu-hotel', 'something quite new')])]
  const changed = after.filter(file => before.get(file.path) !== file.body)
  assert.ok(changed.length <= 12, `${changed.map(file => file.path)}`)
})

test('tiers split until parts are small', () => {
  const keys = ['a', 'ab', 'abc', 'abd', 'b', 'c']
  const list = tiers(keys, 2)
  assert.deepEqual(
    list.map(tier => [tier.prefix, tier.total, tier.own, tier.next.join('')]),
    [
      ['', 6, 0, 'abc'],
      ['a', 4, 1, 'b'],
      ['ab', 3, 1, 'cd'],
      ['abc', 1, 1, ''],
      ['abd', 1, 1, ''],
      ['b', 1, 1, ''],
      ['c', 1, 1, ''],
    ],
  )
  const layout = layoutOf(list)
  assert.deepEqual(layout, { '': 'abc', a: 'b', ab: 'cd' })
  const where: [string, string | null][] = [
    ['abcx', 'abc'],
    ['ab', 'ab'],
    ['abx', null],
    ['bcd', 'b'],
    ['z', null],
    ['', ''],
  ]
  for (const [key, prefix] of where) assert.equal(findTier(layout, key), prefix)
})

test('many equal keys end the splitting', () => {
  assert.equal(tiers(Array(1000).fill('aa'), 10).length, 3)
})

test('shard files have names that any file system takes', () => {
  assert.deepEqual(['', 'con', 'a_b', 'ß', '日本', 'A'].map(tierFile), [
    'p-.json',
    'p-con.json',
    'p-a_b.json',
    'p-~df.json',
    'p-~65e5~672c.json',
    'p-~41.json',
  ])
})

function lookup(entries: readonly SearchEntry[]): Lookup {
  return lookupIn(new Map([...searchFiles(entries)].map(file => [file.path, file.body.toString()])), [])
}

function lookupIn(files: ReadonlyMap<string, string>, loaded: string[]): Lookup {
  return new Lookup(async path => {
    const text = files.get(`search/${path}`)
    assert.ok(text !== undefined, `there is no shard ${path}`)
    loaded.push(`search/${path}`)
    return JSON.parse(text)
  })
}
