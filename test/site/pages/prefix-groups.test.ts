import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupByPrefix } from '../../../site/pages/prefix-groups.ts'

test('tiers split until parts are small', () => {
  const keys = ['a', 'ab', 'abc', 'abd', 'b', 'c']
  const list = groupByPrefix(keys, 2)
  assert.deepEqual(
    list.map(tier => [tier.prefix, tier.total, tier.own, tier.next.join('')]),
    [
      ['', 6, 0, 'abc'],
      ['a', 4, 1, 'b'],
      ['ab', 3, 1, 'cd'],
      ['abc', 1, 1, ''],
      ['abd', 1, 1, ''],
      ['b', 1, 1, ''],
      ['c', 1, 1, ''],
    ],
  )
})

test('many equal keys end the splitting', () => {
  assert.equal(groupByPrefix(Array(1000).fill('aa'), 10).length, 3)
})
