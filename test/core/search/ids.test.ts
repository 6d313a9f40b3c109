// Mirrors core/search/ids.ts

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalName } from '../../../core/name.ts'
import { idsOf } from '../../../core/search/ids.ts'

test('a crate that comes moves few others, in a table that is half full, too', () => {
  const names = Array.from({ length: 2048 }, (_, at) => canonicalName(`crate-${at}`))
  const all = idsOf(names)
  assert.equal(new Set(all.values()).size, names.length)
  const shuffled = idsOf(names.toReversed())
  assert.deepEqual([...all].sort(), [...shuffled].sort())
  const added = names.slice(0, 200)
  let moved = 0
  for (const name of added) {
    const before = idsOf(names.filter(other => other !== name))
    for (const [other, id] of before) if (all.get(other) !== id) moved++
  }
  assert.ok(moved < 0.7 * added.length, `${moved} moved for ${added.length}`)
})
