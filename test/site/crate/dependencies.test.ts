import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CRATES_IO } from '../../../core/urls/urls.ts'
import { dependencySection, dependentSection } from '../../../site/crate/dependencies.ts'
import { cratePage } from '../../../site/crate/page.ts'
import { crate, demoFacts, version } from '../../support/demo-facts.ts'
import { dependency } from '../../support/release.ts'

const site = demoFacts('https://x.example')

test('a dependency from elsewhere links there, and to the crate of its name here', () => {
  const deps = [
    dependency('serde_json', '^1', { registry: CRATES_IO }),
    dependency('own', '^1'),
    dependency('other', '^1', { registry: 'sparse+https://mirror.example/index/' }),
  ]
  const namesakes = new Map([
    ['serde_json', 'serde-json'],
    ['other', 'other'],
    ['own', 'own'],
  ])
  const text = `${dependencySection(site, deps, path => path, namesakes)}`
  assert.match(text, /href="https:\/\/crates\.io\/crates\/serde_json"/)
  assert.match(
    text,
    /from crates\.io; <a href="crates\/serde-json\/index\.html">also in this registry<\/a>/,
  )
  assert.match(text, /<strong>other<\/strong>\s.*\s+.*from mirror\.example; <a href="crates\/other/)
  assert.equal(text.match(/also in this registry/g)?.length, 2)
})

test('dependents that take the crate of this name from elsewhere say so', () => {
  const row = { version: '1.0.0', req: '^1', kind: 'normal', optional: false } as const
  const dependent = { ...row, name: 'one', registry: null }
  const two = { ...row, name: 'two', registry: CRATES_IO }
  const show = (dependents: (typeof dependent | typeof two)[]) =>
    `${dependentSection(site, { name: 'keel', dependents, dependentCount: dependents.length }, path => path)}`
  assert.doesNotMatch(show([dependent]), /another registry|from/)
  assert.match(show([dependent, two]), /another registry.*two.*from crates\.io/s)
})

test('documentation of libraries that name none: docs.rs for copies of crates.io, or a setting', () => {
  const link = (more: Parameters<typeof version>[0], docs: string | null = null) =>
    /href="([^"]*)"[^>]*>Documentation/.exec(
      cratePage({ ...site, docs }, crate(version(more))).bytes.toString(),
    )?.[1] ?? null
  assert.equal(link({}), null)
  assert.equal(link({ origin: CRATES_IO }), 'https://docs.rs/keel/1.4.0')
  assert.equal(link({ origin: CRATES_IO, has_lib: false }), null)
  assert.equal(
    link({ origin: CRATES_IO, documentation: 'https://d.example/' }),
    'https://d.example/',
  )
  assert.equal(link({ origin: 'https://other.example/index' }), null)
  assert.equal(
    link({ version: '1.0.0+b' }, 'https://d.example/{crate}/{version}'),
    'https://d.example/keel/1.0.0%2Bb',
  )
})
