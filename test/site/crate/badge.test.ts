import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badge, badgeMarkdown } from '../../../site/crate/badge.ts'
import { demoFacts } from '../../support/demo-facts.ts'

test('a badge shows name and version, and has them as its title', () => {
  const { path, contentType, bytes } = badge({ name: 'keel', version: '1.4.0', yanked: false })
  assert.deepEqual([path, contentType], ['crates/keel/badge.svg', 'image/svg+xml'])
  assert.match(bytes.toString(), /aria-label="keel: v1\.4\.0"><title>keel: v1\.4\.0<\/title>/)
  assert.match(bytes.toString(), /fill="#0b6b73"/)
})

test('the badge of a yanked crate says so in red', () => {
  const { bytes } = badge({ name: 'keel', version: '1.4.0', yanked: true })
  assert.match(bytes.toString(), /keel: 1\.4\.0 yanked<.*fill="#a8281e"/)
})

test('long names and versions stay inside', () => {
  const text = badge({
    name: 'm'.repeat(64),
    version: `1.0.0-${'rc'.repeat(100)}`,
    yanked: false,
  }).bytes.toString()
  const width = Number(/ width="(\d+)"/.exec(text)?.[1])
  for (const [, x, length] of text.matchAll(/<text x="(\d+)" y="14" textLength="(\d+)"/g))
    assert.ok(Number(x) + Number(length) <= width)
})

test('the Markdown of a badge has absolute addresses', () => {
  assert.equal(
    badgeMarkdown(demoFacts('https://x.example/sub'), 'keel'),
    '[![keel](https://x.example/sub/crates/keel/badge.svg)](https://x.example/sub/crates/keel/)',
  )
})
