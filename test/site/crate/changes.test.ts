import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeSection, changes } from '../../../site/crate/changes.ts'
import { dependencySection } from '../../../site/crate/dependencies.ts'
import { allFeatures, featureSection } from '../../../site/crate/features.ts'
import type { ComparedVersion } from '../../../site/crate-data.ts'
import { formatBytes, formatDate, formatNumber, plural } from '../../../site/elements/elements.ts'
import { dependency } from '../../support/demo-facts.ts'
import { demoFacts } from '../../support/demo-site.ts'

const site = demoFacts('https://x.example')
const before: ComparedVersion = {
  version: '1.0.0',
  rust_version: '1.70',
  deps: [dependency('a', '^1'), dependency('gone', '^1'), dependency('a', '^1', { kind: 'dev' })],
  features: { default: ['std'], std: [], old: [] },
}

test('nothing changed', () => {
  assert.deepEqual(changes(site, before, { ...before, version: '1.0.1' }), [])
})

test('what changed in MSRV, dependencies and features', () => {
  const after: ComparedVersion = {
    version: '2.0.0',
    rust_version: null,
    deps: [
      dependency('a', '^2', { optional: true, default_features: false, features: ['x', 'y'] }),
      dependency('a', '^1', { kind: 'dev' }),
      dependency('b', '^1', { target: 'cfg(unix)', package: 'bee' }),
    ],
    features: { default: [], std: [], new: ['dep:a'] },
  }
  assert.deepEqual(
    changes(site, before, after).map(one => [
      one.kind,
      one.subject,
      one.name,
      one.before,
      one.after,
    ]),
    [
      ['changed', 'MSRV', 'Rust version', '1.70', 'not stated'],
      ['changed', 'dependency', 'a', '^1', '^2 · optional · no default features · features x, y'],
      ['added', 'dependency', 'b [cfg(unix)]', '', '^1 · package bee'],
      ['removed', 'dependency', 'gone', '^1', ''],
      ['changed', 'feature', 'default', 'std', 'nothing'],
      ['added', 'feature', 'new', '', 'dep:a'],
      ['removed', 'feature', 'old', 'nothing', ''],
    ],
  )
})

test('of a changed dependency only the differences are told', () => {
  const one = { features: ['derive'], registry: 'sparse+https://index.crates.io/' }
  const old = {
    ...before,
    deps: [dependency('a', '^1', one), dependency('b', '^1', { optional: true })],
  }
  const now = {
    ...before,
    deps: [dependency('a', '^2', one), dependency('b', '^1', { features: ['x'] })],
  }
  const list = changes(site, old, now)
  assert.deepEqual(
    list.map(one => [one.name, one.before, one.after]),
    [
      ['a', '^1', '^2'],
      ['b', 'optional', 'features x'],
    ],
  )
  const text = (from: ComparedVersion, to: ComparedVersion) =>
    changeSection('1.0.0', changes(site, from, to))
      .toString()
      .replace(/<[^>]*>/g, '')
  const plain = { ...before, deps: [dependency('b', '^1')] }
  const optional = { ...before, deps: [dependency('b', '^1', { optional: true })] }
  assert.match(text(plain, optional), /b now optional/)
  assert.match(text(optional, plain), /b no longer optional/)
})

const origins: [registry: string | null, link: string | null][] = [
  [null, 'href="../real/"'],
  ['https://github.com/rust-lang/crates.io-index', 'href="https://crates.io/crates/real"'],
  ['sparse+https://index.crates.io/', 'href="https://crates.io/crates/real"'],
  ['sparse+https://crates.other.example/index', 'href="https://crates.other.example/crates/real/"'],
  ['https://unknown.example/index', null],
  ['javascript:alert(1)', null],
]
for (const [registry, link] of origins) {
  test(`a dependency from ${registry ?? 'this registry'}`, () => {
    const list = [dependency('renamed', '^1', { package: 'real', registry })]
    const text = dependencySection(
      demoFacts('https://x.example'),
      list,
      to => `../${to.split('/')[1]}/`,
    ).toString()
    assert.equal(/href="[^"]*"/.exec(text)?.[0] ?? null, link)
    assert.match(text, /as <code>renamed<\/code>/)
  })
}

test('features that are on by default are marked, through others too, and circles end', () => {
  const text = featureSection({ default: ['a'], a: ['b'], b: ['a', 'dep:x'], c: [] }).toString()
  assert.deepEqual(
    [...text.matchAll(/<strong>(\w+)<\/strong>\s*(<span class="badge good">default)?/g)].map(
      match => [match[1], match[2] !== undefined],
    ),
    [
      ['default', false],
      ['a', true],
      ['b', true],
      ['c', false],
    ],
  )
})

test('an optional dependency is a feature, unless a feature names it with dep:', () => {
  const deps = [
    dependency('serde', '^1', { optional: true }),
    dependency('renamed', '^1', { optional: true, package: 'real' }),
    dependency('named', '^1', { optional: true }),
    dependency('weak', '^1', { optional: true }),
    dependency('taken', '^1', { optional: true }),
    dependency('always', '^1'),
  ]
  const features = { default: ['serde'], all: ['dep:named', 'weak?/std'], taken: ['taken/std'] }
  assert.deepEqual(allFeatures({ features, deps }), {
    ...features,
    serde: ['dep:serde'],
    renamed: ['dep:renamed'],
    weak: ['dep:weak'],
  })
})

test('amounts and dates as people read them', () => {
  assert.deepEqual([0, 1023, 1024, 10_240, 1_500_000, 5e9].map(formatBytes), [
    '0 B',
    '1023 B',
    '1.0 KiB',
    '10 KiB',
    '1.4 MiB',
    '4.7 GiB',
  ])
  assert.deepEqual([1, 999, 1000, 200_000].map(formatNumber), ['1', '999', '1,000', '200,000'])
  assert.deepEqual([plural(1, 'crate'), plural(2, 'crate')], ['1 crate', '2 crates'])
  assert.equal(formatDate('2026-01-05T23:00:00Z'), 'Jan 5, 2026')
  assert.equal(formatDate('2016-12-31T23:59:60Z'), 'Dec 31, 2016')
})
