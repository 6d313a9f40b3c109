import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badge } from '../../../site/crate/badge.ts'

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
