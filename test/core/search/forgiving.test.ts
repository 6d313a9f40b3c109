// Mirrors core/search/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lookup } from '../../../core/search/lookup.ts'
import { betterText, headlineOf, notesOf } from '../../../core/search/notes.ts'
import { readSearch, rustMinor } from '../../../core/search/request.ts'
import { stemOf, typosBetween } from '../../../core/search/similar.ts'
import { type KnownCrate, knownCrates } from '../../support/known-crates.ts'
import { searchFiles } from '../../support/whole-search.ts'

/** Searches in all ways, by their URL parameters, with their results and notes. */
const searches: [parameters: string, names: string, notes?: string][] = [
  ['q=serial', 'serialport serde serde_json Serde-Yaml'],
  ['q=serialisation', 'serde serde_json Serde-Yaml serialport'],
  ['q=json+parser', 'simd-json rapid'],
  ['q=parsers', 'nom clap pest rapid simd-json'],
  ['q=tokyo', 'tokio tokio-util', 'No crate matches “tokyo”. Showing results for “tokio”.'],
  ['q=regx', 'regex', 'No crate matches “regx”. Showing results for “regex”.'],
  ['q=asynk', 'async-trait tokio', 'No crate matches “asynk”. Showing results for “async”.'],
  [
    'q=sedre',
    'serde serde_json Serde-Yaml',
    'No crate matches “sedre”. Showing results for “serde”.',
  ],
  ['q=tokoi+util', 'tokio-util', 'No crate matches “tokoi”. Showing results for “tokio”.'],
  ['q=rayon+zzzz', 'rayon', 'No crate matches “zzzz”. Showing results for the other words.'],
  ['q=rayon+nom', 'nom rayon', 'No crate matches both words. Showing results for one of them.'],
  [
    'q=json+parser+serial',
    'serde_json simd-json rapid',
    'No crate matches all 3 words. Showing results for 2 of them.',
  ],
  ['q=zzzz', ''],
  ['q=the+regex', 'regex'],
  ['q=keyword:json', 'serde_json simd-json'],
  ['keyword=JSON&sort=name', 'serde_json simd-json'],
  ['category=development-tools', 'log'],
  ['q=parser&license=gpl-3.0-only', 'rapid'],
  ['q=json&license=mit+OR+(Apache-2.0)&sort=dependents', 'serde_json simd-json'],
  ['q=parser&rust=1.65', 'nom pest rapid'],
  ['q=parser&rust=1.65.2&sort=name', 'nom pest rapid'],
  ['q=serde&sort=dependents', 'serde serde_json Serde-Yaml'],
  ['q=json&sort=dependents', 'serde_json rapid simd-json'],
  ['q=tokio&owner=nobody', ''],
  ['q=json&page=2', ''],
  ['sort=name&rust=1.56', 'async-trait rapid serde serde_json'],
  ['q=serde&sort=dependents&rust=1.56', 'serde serde_json'],
]

function requestOf(parameters: string) {
  const url = new URLSearchParams(parameters)
  return readSearch(name => url.get(name))
}

test('searches forgive, filter and sort', async () => {
  const lookup = lookupIn([])
  for (const [parameters, names, notes] of searches) {
    const outcome = await lookup.search(requestOf(parameters), 10)
    assert.equal(outcome.crates.map(crate => crate.name).join(' '), names, parameters)
    assert.deepEqual(notesOf(outcome), notes ? [notes] : [], parameters)
  }
})

/** Crates that only differ in the fields that a query matches, or in their dependents. */
const rivals: KnownCrate[] = [
  rival('jsonwebtoken', 'Creates tokens', [], 40),
  rival('quick-xml', 'A parser for XML', [], 3),
  rival('serde', 'A framework', ['serialization'], 900),
  rival('serde_json', 'A file format', ['json'], 700),
  rival('yoke', 'Borrows data', ['serialization'], 2),
]

const byDependents: [q: string, names: string][] = [
  ['serial', 'serde yoke'],
  ['json parser', 'serde_json jsonwebtoken quick-xml'],
  ['json token', 'jsonwebtoken'],
  ['json', 'serde_json jsonwebtoken'],
  ['jsonwebtoken', 'jsonwebtoken'],
  ['yoke framework', 'serde yoke'],
]

test('within a kind of match, crates with more dependents come first', async () => {
  const lookup = lookupOf(rivals)
  for (const [q, names] of byDependents) {
    const { crates } = await lookup.search(requestOf(`q=${q}`), 9)
    assert.equal(crates.map(crate => crate.name).join(' '), names, q)
  }
})

test('a word that few crates have is kept, and a far more frequent one is suggested', async () => {
  const many = Array.from({ length: 40 }, (_, at) => crate(`tokio-${at}`))
  const lookup = lookupOf([...many, crate('tokyo')])
  const request = requestOf('q=Tokyo+tokio')
  const outcome = await lookup.search(request, 10)
  assert.deepEqual(outcome.leniency.suggested, [{ word: 'tokyo', others: ['tokio'] }])
  assert.equal(betterText('Tokyo', outcome.leniency), 'tokio')
  assert.equal(
    headlineOf(request, outcome),
    '41 crates',
    'a note says that they have one word of two',
  )
})

test('what is sorted by more than files can say is bounded, and the page says so', async () => {
  const many = Array.from({ length: 2000 }, (_, at) => crate(`same-${at}`))
  const loaded: string[] = []
  const outcome = await lookupOf(many, loaded).search(requestOf('q=same&sort=name'), 10)
  assert.ok(loaded.length < 70, `${loaded.length} files`)
  assert.equal(outcome.considered, 66)
  assert.match(notesOf(outcome)[0] ?? '', /^Only the best 66 crates were looked at/)
})

test('no text makes a search load much', async () => {
  const hostile = [
    'w '.repeat(5000),
    Array.from({ length: 5000 }, (_, at) => `serd${at}`).join('+'),
    'e\u0301'.repeat(100_000),
    '\ufdfa'.repeat(10_000),
    'keyword:x '.repeat(5000),
    `${'🦀'.repeat(5000)} \ud800 \u0000`,
    '\u202e'.repeat(1000),
    'aaaaaaaab '.repeat(1000),
    '_'.repeat(3000),
  ]
  for (const text of hostile) {
    const loaded: string[] = []
    const outcome = await lookupIn(loaded).search(
      readSearch(name => (name === 'q' ? text : '')),
      8,
    )
    assert.ok(outcome.total <= knownCrates.length)
    // Per word: itself, lists by start and shape, similar words; and the crates.
    assert.ok(loaded.length < 100, `${loaded.length} files for ${text.slice(0, 20)}`)
  }
})

test('English words that differ by their ending have one stem', () => {
  for (const words of [
    'serialize serializer serialization serialisation serialized serializing serial',
    'parse parser parsers parsing parsed',
    'log logs logger logging logged',
    'query queries',
    'compress compression compressor compresses',
    'color colors colour',
    'box boxes',
    'process processes processing processor',
  ]) {
    const stems = new Set(words.split(' ').map(stemOf))
    assert.equal(stems.size, 1, `${words}: ${[...stems].join(' ')}`)
  }
  for (const [a, b] of [
    ['json', 'jsonp'],
    ['http', 'https2'],
    ['use', 'us'],
    ['serde', 'server'],
    ['数据库', '数据'],
  ] as const)
    assert.notEqual(stemOf(a), stemOf(b), `${a} ${b}`)
})

test('typos are letters added, left out, replaced or swapped', () => {
  const pairs: [string, string, number][] = [
    ['tokio', 'tokio', 0],
    ['tokyo', 'tokio', 1],
    ['regx', 'regex', 1],
    ['regexx', 'regex', 1],
    ['sedre', 'serde', 1],
    ['serialisatoin', 'serialization', 2],
    ['abcd', 'wxyz', 3],
    ['a', 'abcdef', 3],
    ['', 'ab', 2],
  ]
  for (const [a, b, typos] of pairs) {
    assert.equal(typosBetween(a, b, 2), typos, `${a} ${b}`)
    assert.equal(typosBetween(b, a, 2), typos, `${b} ${a}`)
  }
})

test('the minor version of a Rust version counts', () => {
  const versions: [string | null, number | null][] = [
    ['1.70', 70],
    ['1.70.1', 70],
    ['1.70.0-beta.1', 70],
    ['2.0', 120],
    ['1.9999', 120],
    ['1', null],
    ['x', null],
    ['1.70x', null],
    [null, null],
  ]
  for (const [text, minor] of versions) assert.equal(rustMinor(text), minor, String(text))
})

function rival(
  name: string,
  description: string,
  keywords: string[],
  dependents: number,
): KnownCrate {
  const about = { description, keywords }
  return { name, newest: '1.0.0', about, yanked: false, dependents, needs: [] }
}

function crate(name: string) {
  return { name, newest: '1.0.0', about: { description: null, keywords: [] }, yanked: false }
}

function lookupIn(loaded: string[]): Lookup {
  return lookupOf(knownCrates, loaded)
}

function lookupOf(crates: Parameters<typeof searchFiles>[0], loaded: string[] = []): Lookup {
  const files = new Map([...searchFiles(crates)].map(file => [file.path, file.bytes.toString()]))
  const load = async (path: string) => {
    loaded.push(path)
    return files.get(`search/${path}`) ?? assert.fail(`there is no ${path}`)
  }
  return new Lookup({ load })
}

test('of several words, dependents and fields find the obvious; README, category and owner a little', async () => {
  const known = (name: string, dependents: number, rest: object) => ({
    ...rival(name, '', [], dependents),
    ...rest,
  })
  const about = (description: string, keywords: string[] = [], categories: string[] = []) => ({
    about: { description, keywords, categories, license: null },
  })
  const lookup = lookupOf([
    known('tokio', 900, {
      ...about('An event-driven platform for asynchronous applications.', ['io', 'async']),
      readme:
        '# Tokio\n\n[![Build](x)](y)\n\nA runtime for writing reliable applications.\n\nMore.',
    }),
    known('agnostic-lite', 1, about('An async runtime abstraction')),
    known('runtime-less', 0, about('Async without a runtime', ['async', 'runtime'])),
    known(
      'hyper',
      700,
      about('A protective HTTP library', ['http'], ['web-programming::http-server']),
    ),
    known('small-serve', 2, about('A small HTTP server', ['http', 'server'])),
    known('http-server', 0, about('Nothing')),
    known('axum', 300, {
      ...about('Ergonomic HTTP routing', ['http', 'web', 'framework']),
      readme: '# axum\n\n`axum` is a web application framework that focuses on modularity.',
    }),
    known('web-framework-kit', 1, about('A web framework', ['web', 'framework'])),
    known('framework', 2, about('A frame for web pages')),
    known('swift', 200, {
      ...about('Fast servers', ['http']),
      readme: '# swift\n\nThe swift library crate: a web framework for the rest of us, quickly.',
    }),
    known('owned', 0, { ...about('Something'), owners: ['carol'] }),
    known('rand', 80, about('Random number generators')),
    ...['a', 'b', 'c', 'd'].map(name =>
      known(`${name}-code`, 1, about('Generates a number, generated by random generation')),
    ),
  ])
  const first = async (q: string) =>
    (await lookup.search(requestOf(`q=${q}`), 9)).crates.map(crate => crate.name)
  assert.equal((await first('async+runtime'))[0], 'tokio')
  assert.deepEqual((await first('http+server')).slice(0, 2), ['http-server', 'hyper'])
  assert.equal((await first('web+framework'))[0], 'axum')
  // Forms of a word that more crates have do not push its plural out.
  assert.equal((await first('random+number+generator'))[0], 'rand')
  // Only its first paragraph says so, which is less than a name and keywords.
  assert.ok((await first('web+framework')).includes('swift'))
  assert.deepEqual(await first('quickly'), [], 'nor do more than two words of it')
  assert.deepEqual(await first('carol'), ['owned'])
  assert.deepEqual(await first('more'), [], 'only the first paragraph counts')
})

test('the headline names filters and order', async () => {
  const told = async (parameters: string) => {
    const request = requestOf(parameters)
    return headlineOf(request, await lookupIn([]).search(request, 10))
  }
  assert.equal(
    await told('q=serde&sort=dependents'),
    '3 crates for “serde”, most depended on first',
  )
  assert.equal(await told('keyword=JSON&sort=name'), '2 crates with keyword “JSON”, by name')
  assert.equal(
    await told('q=parser&license=MIT&rust=1.65'),
    '2 crates for “parser” with license “MIT”, rust “1.65”',
  )
})
