import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Candidates, Found, Hits } from '../../../core/search/hits.ts'

const CRATES = 5000
/** All crates are equal: one dependent, a short name. */
const RANKS = new Uint8Array(CRATES).fill(7)
const plan = (words: number) => ({
  words: Array.from({ length: words }, () => ({ word: 'w', variants: [], crates: 1 })),
  similar: [],
  suggested: [],
  missing: [],
})

function found(ids: Iterable<number>, fit = 3): Found {
  const found = new Found(CRATES)
  for (const id of ids) found.put(id, fit)
  return found
}

test('a word has each crate once, with its best fit, however many there are', () => {
  const all = found(Array.from({ length: CRATES }, (_, id) => id))
  for (let id = 0; id < CRATES; id += 2) all.put(id, id % 4 === 0 ? 1 : 5)
  all.put(CRATES, 0)
  all.put(1, null)
  assert.equal(new Set(all.ids).size, CRATES)
  assert.equal(all.ids.length, CRATES)
  assert.deepEqual(
    [0, 1, 2, 4].map(id => all.fit(id)),
    [1, 3, 3, 1],
  )
})

test('hits are the crates with the most words; equal ones are in the order of their ids', () => {
  const candidates = new Candidates(RANKS)
  candidates.addWord([{ found: found([4000, 3, 2, 1]), likeness: 'same' }], true)
  const near = { found: found([2]), likeness: 'near' } as const
  candidates.addWord([{ found: found([9, 3, 4000]), likeness: 'same' }, near], false)
  const hits = new Hits(candidates, plan(2))
  assert.deepEqual([hits.total, hits.matched], [3, 2])
  assert.deepEqual(hits.slice({ limit: 10, offset: 0 }, 'relevance'), [3, 4000, 2])
  assert.deepEqual(hits.slice({ limit: 1, offset: 1 }, 'relevance'), [4000])
  assert.deepEqual(hits.slice({ limit: 10, offset: 0 }, 'id'), [2, 3, 4000])
  assert.deepEqual(
    [9, 2].map(id => hits.has(id)),
    [false, true],
  )
})

test('without words, every crate is a hit that there is', () => {
  const ranks = RANKS.slice(0, 6)
  ranks[4] = 0
  const hits = new Hits(new Candidates(ranks), plan(0))
  assert.equal(hits.total, 5)
  assert.deepEqual(hits.slice({ limit: 9, offset: 3 }, 'relevance'), [3, 5])
})
