import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted, formatBytes, formatNumber } from '../../core/quantity.ts'

test('amounts as people read them', () => {
  assert.deepEqual([0, 1023, 1024, 10_240, 1_500_000, 5e9, 3e12, 5e15].map(formatBytes), [
    ...['0 B', '1023 B', '1.0 KiB', '10 KiB', '1.4 MiB', '4.7 GiB', '2.7 TiB', '4547 TiB'],
  ])
  assert.deepEqual([1, 999, 1000, 200_000].map(formatNumber), ['1', '999', '1,000', '200,000'])
  assert.deepEqual([counted(1, 'crate'), counted(2000, 'crate')], ['1 crate', '2,000 crates'])
  assert.equal(counted(2, 'entry', 'entries'), '2 entries')
})
