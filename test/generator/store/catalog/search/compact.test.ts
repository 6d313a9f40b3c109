import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CLASSES } from '../../../../../core/search/terms.ts'
import { eachBit } from '../../../../../generator/store/catalog/search/bitmaps.ts'
import { Compact } from '../../../../../generator/store/catalog/search/compact.ts'
import {
  type Bits,
  type Mask,
  matchedBy,
  mostWords,
  type Sets,
  setBit,
} from '../../../../../generator/store/catalog/search/crate-sets.ts'

const WORDS = 32

const bits = fc
  .uniqueArray(fc.nat(WORDS * 32 - 1), { maxLength: 30 })
  .map(ids => ids.reduce(withBit, new Uint32Array(WORDS)))
const sets: fc.Arbitrary<Sets> = fc
  .array(bits, { minLength: CLASSES, maxLength: CLASSES })
  .map(own =>
    own.map((_, at) => {
      const from = at < CLASSES / 2 ? 0 : CLASSES / 2
      return own
        .slice(from, at + 1)
        .reduce((sum, one) => sum.map((word, i) => word | (one[i] ?? 0)))
    }),
  )
const mask: fc.Arbitrary<Mask> = fc.tuple(bits, bits)

test('a query finds the same crates in sets that are cut down', () => {
  const found = fc.array(sets, { minLength: 1, maxLength: 3 })
  let short = 0
  fc.assert(
    fc.property(found, fc.option(mask), (found, mask) => {
      const matches = mostWords(found, mask)
      const compact = new Compact(matches.crates)
      const few = compact.matches(matches)
      if (few !== matches) short++
      assert.equal(few.matched, matches.matched)
      for (let at = 0; at < CLASSES; at++)
        assert.deepEqual(compact.ids(idsOf(matchedBy(few, at))), idsOf(matchedBy(matches, at)))
    }),
    { seed: 1 },
  )
  assert.ok(short > 20 && short < 95, `${short} of 100 queries found few crates`)
})

test('crates keep their scores and places', () => {
  const scores = Uint8Array.from({ length: WORDS * 32 }, (_, id) => id % 251)
  const [unyanked, yanked] = [new Uint32Array(WORDS), new Uint32Array(WORDS)]
  const ids = [3, 31, 32, 900, 1023]
  for (const id of ids) setBit(id % 2 === 0 ? unyanked : yanked, id)
  const compact = new Compact([unyanked, yanked])
  const places = compact.places([...ids, 500])
  assert.deepEqual(compact.ids(places), ids)
  assert.deepEqual(
    places.map(place => compact.scores(scores)[place]),
    ids.map(id => scores[id]),
  )
})

function withBit(bits: Bits, id: number): Bits {
  setBit(bits, id)
  return bits
}

function idsOf(bits: Bits): number[] {
  const ids: number[] = []
  eachBit(bits, id => ids.push(id))
  return ids
}
