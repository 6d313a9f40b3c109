import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareText, type Entry, renderEntry } from '../../core/entry/entry.ts'
import { parseEntry, readEntry } from '../../core/entry/parse.ts'
import { frugally } from '../support/processor-time.ts'
import { objectionsTo } from '../support/refusal.ts'
import { dependency, entry } from '../support/release.ts'

const { cksum: CKSUM } = entry()

/** A line that fits, with changes; `undefined` removes a key. */
function line(more: object = {}): string {
  return JSON.stringify({
    name: 'demo',
    vers: '1.0.0',
    deps: [],
    cksum: CKSUM,
    features: {},
    yanked: false,
    ...more,
  })
}

/** A line with changes to its only dependency, and others. */
function lineWith(different: object, more: object = {}): string {
  return line({ deps: [{ ...dependency('a'), ...different }], ...more })
}

const messages = (text: string) => objectionsTo(() => parseEntry(text))

test('the smallest entry', () => {
  assert.equal(
    renderEntry(entry()),
    `{"name":"demo","vers":"1.0.0","deps":[],"cksum":"${CKSUM}","features":{},"yanked":false}`,
  )
})

test('every field in its place', () => {
  const whole = entry({
    deps: [dependency('a')],
    features: { b: ['dep:a'], a: [] },
    yanked: true,
    links: 'z',
    rust_version: '1.70',
    pubtime: '2026-11-20T12:00:00Z',
    other: { zeta: [1, { x: null }], alpha: 'kept' },
  })
  assert.equal(
    renderEntry(whole),
    `{"name":"demo","vers":"1.0.0","deps":[{"name":"a","req":"^1","features":[],"optional":false,"default_features":true,` +
      `"target":null,"kind":"normal","registry":null,"package":null}],"cksum":"${CKSUM}","features":{"a":[]},` +
      `"yanked":true,"links":"z","features2":{"b":["dep:a"]},"v":2,"rust_version":"1.70",` +
      `"pubtime":"2026-11-20T12:00:00Z","alpha":"kept","zeta":[1,{"x":null}]}`,
  )
})

const SPLITS: readonly (readonly [string, Entry['features'], string, string | null])[] = [
  ['none', {}, '{}', null],
  ['plain', { b: ['x/y', 'a'], a: [] }, '{"a":[],"b":["x/y","a"]}', null],
  ['dep:', { a: ['dep:x'], b: [] }, '{"b":[]}', '{"a":["dep:x"]}'],
  ['weak', { a: ['x?/y'], b: [] }, '{"b":[]}', '{"a":["x?/y"]}'],
  [
    'a chain leads there',
    { a: ['b'], b: ['c'], c: ['dep:x'], d: [] },
    '{"d":[]}',
    '{"a":["b"],"b":["c"],"c":["dep:x"]}',
  ],
  [
    'a ring',
    { a: ['b'], b: ['a', 'c'], c: ['dep:x'] },
    '{}',
    '{"a":["b"],"b":["a","c"],"c":["dep:x"]}',
  ],
  ['dep: not in front is a plain word', { a: ['xdep:y'] }, '{"a":["xdep:y"]}', null],
  ['numbers are ordered as text', { 2018: [], 10: [], 9: [] }, '{"10":[],"2018":[],"9":[]}', null],
  [
    'names of every object',
    { constructor: ['dep:x'], toString: [] },
    '{"toString":[]}',
    '{"constructor":["dep:x"]}',
  ],
]

for (const [what, features, first, second] of SPLITS) {
  test(`features split: ${what}`, () => {
    const text = renderEntry(entry({ features }))
    assert.ok(text.includes(`"features":${first}`), text)
    assert.equal(/"features2":(\{.*?\})/.exec(text)?.[1] ?? null, second)
    assert.equal(text.includes('"v":2'), second !== null)
  })
}

test('a chain of ten thousand features is split in a moment', () => {
  const features = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, i) => [`f${i}`, [`f${i + 1}`]]),
  )
  const chain = entry({ features: { ...features, f10000: ['dep:x'] } })
  assert.ok(frugally(() => renderEntry(chain)).includes('"features":{}'))
})

test('dependencies are ordered by name, kind and all the rest, from whatever order', () => {
  const sorted = [
    dependency('B'),
    dependency('a', '^1'),
    dependency('a', '^2'),
    dependency('a', '^2', { optional: true }),
    dependency('a', '^1', { kind: 'build' }),
    dependency('a', '^1', { kind: 'dev' }),
    dependency('a', '^1', { kind: 'dev', target: 'cfg(unix)' }),
    dependency('a', '^1', { kind: 'dev', target: 'cfg(windows)' }),
    dependency('a', '^1', { kind: 'dev', target: 'cfg(windows)', features: ['x'] }),
    dependency('b', '^1', { package: 'z' }),
  ]
  const expected = renderEntry(entry({ deps: sorted }))
  assert.deepEqual(parseEntry(expected).deps, sorted)
  for (let round = 0; round < sorted.length; round++) {
    const turned = [...sorted.slice(round), ...sorted.slice(0, round)].reverse()
    assert.equal(renderEntry(entry({ deps: turned })), expected)
  }
})

test('text is ordered by code points, not by UTF-16 units', () => {
  const words = ['', 'A', 'a', 'ab', 'b', '\uffee', '\u{10000}', '\u{10001}', '\u{10400}']
  assert.deepEqual([...words].reverse().sort(compareText), words)
})

test('schema version: 3 for artifact dependencies, what another writer gave otherwise', () => {
  const artifact = [dependency('a', '^1', { artifact: ['bin'], bindep_target: null, lib: false })]
  const version = (item: Entry) => /"v":(\d+)/.exec(renderEntry(item))?.[1] ?? null
  assert.equal(version(entry({ deps: artifact })), '3')
  assert.equal(version(entry({ deps: artifact, v: 2 })), '2')
  assert.equal(version(entry({ v: 2 })), '2')
  assert.equal(version(entry({ v: 1, features: { a: ['dep:b'] } })), '2')
  assert.equal(version(entry({ v: 4 })), '4')
})

test('what is absent takes the defaults of Cargo', () => {
  const text = `{"name":"demo","vers":"1.0.0","deps":[{"name":"a","req":"1"},{"name":"b","req":"1","kind":"odd"}],"cksum":"${CKSUM}"}`
  assert.deepEqual(parseEntry(text), entry({ deps: [dependency('a', '1'), dependency('b', '1')] }))
})

test('features2 joins features by appending', () => {
  const text = line({ features: { a: ['x'], b: [] }, features2: { a: ['dep:y'], c: ['b'] }, v: 2 })
  assert.deepEqual(parseEntry(text).features, { a: ['x', 'dep:y'], b: [], c: ['b'] })
})

test('what others wrote is read and written without a loss', () => {
  const theirs = [
    line(),
    line({ links: null, rust_version: null, pubtime: null, v: null, yanked: null }),
    line({ features2: null }),
    line({ links: '', rust_version: '1.60.0', pubtime: '2016-12-31T23:59:60Z', v: 1 }),
    lineWith({
      name: '_a',
      registry: 'sparse+https://x.example/i/',
      package: 'real',
      public: true,
    }),
    lineWith({ artifact: ['bin:x'], bindep_target: 'wasm32-wasip1', lib: true }, { v: 3 }),
    lineWith({ artifact: ['bin'] }),
    lineWith({ stability: { since: 1 }, __proto: 0 }, { badges: [], unknown: null }),
    line({ features: { a: ['b/c'] }, features2: { d: ['dep:b'] }, v: 2 }),
    line({ vers: '1.0.0+a', deps: [dependency('a', '>= 1.0, < 2')] }),
  ]
  for (const text of theirs) {
    const once = parseEntry(text)
    const written = renderEntry(once)
    assert.deepEqual(parseEntry(written), once)
    assert.equal(renderEntry(parseEntry(written)), written)
    assert.deepEqual(readEntry(written), once)
    assert.equal(renderEntry(readEntry(written)), written)
    for (const key of ['stability', '__proto', 'badges', 'unknown', 'public', 'artifact']) {
      assert.equal(written.includes(`"${key}":`), text.includes(`"${key}":`))
    }
  }
})

const OBJECTIONABLE: readonly (readonly [string, string, RegExp])[] = [
  ['no JSON', '{"name":', /^the index entry is not valid JSON/],
  ['no object', '[]', /^the index entry is not a JSON object$/],
  ['a byte order mark', `\uFEFF${line()}`, /^the index entry is not valid JSON/],
  ['a key twice', line().replace('"vers"', '"name":"x","vers"'), /the key `name` twice/],
  ['one escaped', line().replace('"vers"', '"n\\u0061me":"x","vers"'), /the key `name` twice/],
  ['one deep', lineWith({}).replace('"req"', '"kind":"dev","req"'), /the key `kind` twice/],
  ['bottomless', `{"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, /nested more than 32 levels deep$/],
  ['half a surrogate', line({ 'x\ud800': 1 }), /^`x.*` of the index entry contains the character/],
  ['optional for dev', lineWith({ kind: 'dev', optional: true }), /^the dev-dependency `a` is opt/],
  ['a requirement', lineWith({ req: '>=1 <2' }), /^`deps\[0\]\.req` .* entry: `>=1 <2` is not/],
]

for (const [what, text, expected] of OBJECTIONABLE) {
  test(`objection to ${what}`, () => {
    const said = messages(text)
    assert.equal(said.length, 1, said.join('\n'))
    assert.match(said[0] ?? '', expected)
  })
}

const CRATE = 'a crate name'
const FEATURES = 'an object of arrays of strings'
const TARGET = 'a target triple or a valid `cfg(…)` with at most 64 levels'
const RUST = 'a Rust version such as `1.70` or `1.70.0`'
const TIME = 'a time in the form `2026-11-20T12:00:00Z`'
const DEEP = `cfg(${'not('.repeat(60_000)}a${')'.repeat(60_000)})`

/** Values that a field of an entry cannot have, and what it must be. */
const FIELDS: readonly (readonly [field: string, values: readonly unknown[], must: string])[] = [
  ['name', [undefined], 'present'],
  ['name', [''], CRATE],
  ['vers', ['v1.0.0'], 'a SemVer version'],
  ['deps', [null], 'an array'],
  ['cksum', [undefined], 'present'],
  ['cksum', [CKSUM.toUpperCase()], '64 lowercase hexadecimal digits'],
  ['features', [null, []], FEATURES],
  ['features2', [{ a: [1] }], FEATURES],
  ['yanked', ['false'], 'true or false'],
  ['links', [1], 'a string'],
  ['v', ['2', -1], 'a whole number'],
  ['rust_version', ['^1.60', '1.60.0-beta'], RUST],
  ['pubtime', ['2026-11-20T12:00:00.123Z', '2026-11-20T12:00:00+00:00'], TIME],
  ['pubtime', ['2026-02-29T12:00:00Z'], TIME],
]

/** The same for fields of a dependency. */
const OF_DEPENDENCY: typeof FIELDS = [
  ['name', ['', '../a'], CRATE],
  ['package', [''], CRATE],
  ['req', [null], 'a string'],
  ['features', [null], 'an array of strings'],
  ['default_features', [null], 'true or false'],
  ['target', ['cfg(', DEEP, 1], TARGET],
  ['registry', ['mine', 'sparse+http://a%20b/'], 'the URL of an index'],
  ['lib', [null], 'true or false'],
]

test('a field that is not what it must be', () => {
  const check = (field: string, text: string, must: string) =>
    assert.deepEqual(messages(text), [`\`${field}\` of the index entry must be ${must}`])
  for (const [field, values, must] of FIELDS)
    for (const value of values) check(field, line({ [field]: value }), must)
  for (const [field, values, must] of OF_DEPENDENCY)
    for (const value of values) check(`deps[0].${field}`, lineWith({ [field]: value }), must)
  check('deps[0]', line({ deps: [1] }), 'an object')
})

test('what no registry can store is named by its place', () => {
  const places = [
    ['features.a[0]', line({ features: { a: ['b\0'] } })],
    ['links', line({ links: '\0' })],
  ] as const
  for (const [place, text] of places)
    assert.deepEqual(messages(text), [
      `\`${place}\` of the index entry contains the character U+0000 or half a surrogate pair, which no registry can store; remove it`,
    ])
})

test('all objections come at once, but not without end', () => {
  assert.equal(messages(line({ name: 1, vers: 2, cksum: 3, links: 4 })).length, 4)
  const many = messages(line({ deps: Array.from({ length: 1000 }, () => 0) }))
  assert.equal(many.length, 51)
  assert.equal(many.at(-1), '950 more errors are not shown; fix those above and try again')
})
