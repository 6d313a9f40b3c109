import assert from 'node:assert/strict'
import { test } from 'node:test'
import { message } from '../../core/error/catalog.ts'
import { counted, formatBytes, formatNumber } from '../../core/quantity.ts'

test('amounts as people read them', () => {
  assert.deepEqual([0, 1023, 1024, 10_240, 1_500_000, 5e9, 3e12, 5e15].map(formatBytes), [
    ...['0 B', '1023 B', '1.0 KiB', '10 KiB', '1.4 MiB', '4.7 GiB', '2.7 TiB', '4547 TiB'],
  ])
  assert.deepEqual([1, 999, 1000, 200_000].map(formatNumber), ['1', '999', '1,000', '200,000'])
  assert.deepEqual([counted(1, 'crate'), counted(2000, 'crate')], ['1 crate', '2,000 crates'])
  assert.equal(counted(2, 'entry', 'entries'), '2 entries')
})

test('messages have sizes in the units of people, exact where a limit is exceeded by little', () => {
  const told = (size: number, max: number) => message('import_oversized', [{ size, max }])
  const MIB = 1024 * 1024
  assert.equal(
    told(12.5 * MIB, 10 * MIB),
    'its .crate has 13 MiB, more than the 10 MiB allowed for new ones',
  )
  assert.match(told(10 * MIB + 1, 10 * MIB), /has 10,485,761 bytes, more than the 10 MiB allowed/)
  assert.match(told(700, 10), /has 700 bytes, more than the 10 bytes/)
  const ended = message('token_expired', [{ at: '2027-02-07T12:00:00Z', me: 'M' }])
  assert.equal(ended, 'this token expired on 7 February 2027; M says how to get a new one')
})
