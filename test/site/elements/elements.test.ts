import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDate } from '../../../site/elements/elements.ts'

test('dates as people read them, leap seconds included', () => {
  assert.equal(formatDate('2026-01-05T23:00:00Z'), 'Jan 5, 2026')
  assert.equal(formatDate('2016-12-31T23:59:60Z'), 'Dec 31, 2016')
})
