import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeList, countChanges, manifestChanges } from '../../../site/crate/changes.ts'
import { dependencySection } from '../../../site/crate/dependencies.ts'
import { allFeatures, featureSection } from '../../../site/crate/features.ts'
import type { ComparedVersion } from '../../../site/crate-data.ts'
import { demoConfig } from '../../support/demo-config.ts'
import { frugally } from '../../support/processor-time.ts'
import { dependency } from '../../support/release.ts'

const site = demoConfig('https://x.example')
const before: ComparedVersion = {
  version: '1.0.0',
  rust_version: '1.70',
  edition: '2021',
  license: 'MIT',
  license_file: null,
  links: null,
  deps: [dependency('a', '^1'), dependency('gone', '^1'), dependency('a', '^1', { kind: 'dev' })],
  features: { default: ['std'], std: [], old: [] },
}

/** The changes as one reads them, group by group. */
function told(from: ComparedVersion, to: ComparedVersion): Record<string, string[]> {
  const list = (html: string) =>
    html
      .split('<li>')
      .slice(1)
      .map(line =>
        line
          .replace(/<\/ul>.*/s, '')
          .replace(/<[^>]*>/g, '')
          .trim(),
      )
  return Object.fromEntries(
    manifestChanges(site, from, to).map(group => [
      group.title,
      list(changeList([group]).toString()),
    ]),
  )
}

test('nothing changed', () => {
  assert.deepEqual(manifestChanges(site, before, { ...before, version: '1.0.1' }), [])
})

test('what changed in the package, its dependencies by kind, and its features', () => {
  const after: ComparedVersion = {
    ...before,
    version: '2.0.0',
    rust_version: null,
    edition: '2024',
    license: null,
    license_file: 'LICENSE',
    deps: [
      dependency('a', '^2', { optional: true, default_features: false, features: ['x', 'y'] }),
      dependency('a', '^1', { kind: 'dev' }),
      dependency('b', '^1', { target: 'cfg(unix)', package: 'bee' }),
      dependency('c', '^1', { kind: 'build', optional: true, features: ['f'] }),
    ],
    features: { default: [], std: [], new: ['dep:a', 'std'], old: ['std'] },
  }
  assert.deepEqual(told(before, after), {
    Package: [
      'changed Rust version 1.70 → not stated',
      'changed Edition 2021 → 2024',
      'changed License MIT → LICENSE',
    ],
    Dependencies: [
      'changed a ^1 → ^2 · now optional · now without default features · now with feature x, y',
      'added b ^1 · the crate bee · only for cfg(unix)',
      'removed gone ^1',
    ],
    'Build dependencies': ['added c ^1 · optional · with feature f'],
    Features: [
      'changed default no longer enables std',
      'added new enables dep:a, std',
      'changed old now enables std',
    ],
  })
})

test('a changed target is one change, and each target is compared with itself', () => {
  const on = (target: string | null, req = '^1') => dependency('t', req, { target })
  const changed = (old: ComparedVersion['deps'], now: ComparedVersion['deps']) =>
    told({ ...before, deps: old }, { ...before, deps: now }).Dependencies
  assert.deepEqual(changed([on('cfg(unix)')], [on('cfg(windows)')]), [
    'changed t for cfg(unix) → cfg(windows)',
  ])
  assert.deepEqual(changed([on(null)], [on('cfg(unix)', '^2')]), [
    'changed t ^1 → ^2 · now only for cfg(unix)',
  ])
  assert.deepEqual(changed([on('cfg(unix)')], [on(null)]), ['changed t now for every target'])
  assert.deepEqual(
    changed([on('cfg(a)'), on('cfg(b)'), on('cfg(c)')], [on('cfg(b)', '^2'), on('cfg(d)')]),
    ['changed t ^1 → ^2', 'changed t for cfg(a) → cfg(d)', 'removed t ^1 · only for cfg(c)'],
  )
})

test('where a dependency comes from now is said, not that its index is spelled otherwise', () => {
  const from = (registry: string | null) => [dependency('a', '^1', { registry })]
  const deps = (registry: string | null) => ({ ...before, deps: from(registry) })
  assert.deepEqual(told(deps('https://github.com/rust-lang/crates.io-index'), deps(null)), {
    Dependencies: ['changed a now from this registry'],
  })
  const sparse = deps('sparse+https://index.crates.io/')
  assert.deepEqual(told(deps('https://github.com/rust-lang/crates.io-index'), sparse), {})
})

test('30,000 dependencies of one name are compared in little time', () => {
  const many = (req: string) =>
    Array.from({ length: 30_000 }, (_, at) => dependency('a', req, { target: `cfg(t${at})` }))
  const [from, to] = ['^1', '^2'].map(req => ({ ...before, deps: many(req) }))
  const groups = frugally(() => manifestChanges(site, from ?? before, to ?? before))
  assert.equal(countChanges(groups), 30_000)
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
      demoConfig('https://x.example'),
      list,
      to => `../${to.split('/')[1]}/`,
      'crate.json',
    ).toString()
    assert.equal(/href="[^"]*"/.exec(text)?.[0] ?? null, link)
    assert.match(text, /as <code>renamed<\/code>/)
  })
}

test('of very many dependencies the first of a kind are shown, and how many more there are', () => {
  const many = Array.from({ length: 1200 }, (_, at) => dependency(`d${at}`, '^1'))
  const text = dependencySection(
    demoConfig('https://x.example'),
    many,
    to => to,
    'crate.json',
  ).toString()
  assert.equal(text.match(/<li>/g)?.length, 1000)
  assert.match(text, /<span class="quiet">1,200<\/span>/)
  assert.match(
    text,
    /These are the first 1,000\. <a href="crate.json">crate\.json<\/a> has all of them\./,
  )
})

test('features that are on by default are marked, through others too, and circles end', () => {
  const text = featureSection(
    { default: ['a'], a: ['b'], b: ['a', 'dep:x'], c: [] },
    'crate.json',
  ).toString()
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

test('of very many features the first are shown, their number, and where all of them are', () => {
  const names = Array.from({ length: 5000 }, (_, at) => `f${at}`)
  const features = { default: names, ...Object.fromEntries(names.map(name => [name, []])) }
  const text = featureSection(features, '../crate.json').toString()
  assert.equal(text.match(/<li /g)?.length, 300)
  assert.match(text, /^<ul class="rows">\n<li id="feature-default">/)
  // Only features that are shown have a place to lead to.
  for (const [, id] of text.matchAll(/href="#([^"]*)"/g)) assert.ok(text.includes(`id="${id}"`), id)
  assert.match(text, / and 4,975 more</)
  assert.match(
    text,
    /<p class="quiet">These are the first 300 of 5,001 features\. <a href="\.\.\/crate\.json">crate\.json<\/a> has all of them\.<\/p>$/,
  )
  assert.ok(text.length < 100_000)
})

test('of very many changes the first are shown', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`f${at}`, []]))
  const groups = manifestChanges(site, { ...before, features: {} }, { ...before, features: many })
  assert.equal(countChanges(groups), 5000)
  const text = changeList(groups).toString()
  assert.equal(text.match(/<li>/g)?.length, 300)
  assert.match(text, /<p class="quiet">4,700 more changes of this kind are not shown\.<\/p>/)
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
